"""Best place of the two boxes, which bases they have there, spacing and composition around."""
import numpy as np

W35, W10 = [1.0, 1.1, 0.9, 0.5, 0.7, 0.4], [0.9, 1.3, 0.5, 0.6, 0.5, 1.2]


def hits(window, consensus):
    return [float(a == b) for a, b in zip(window, consensus)]


def place(sequence):
    best = None
    for i in range(16, len(sequence) - 34):
        a = hits(sequence[i : i + 6], "TTGACA")
        for gap in range(15, 20):
            j = i + 6 + gap
            if j + 6 + 12 > len(sequence):
                continue
            b = hits(sequence[j : j + 6], "TATAAT")
            total = np.dot(a, W35) + np.dot(b, W10) - 0.5 * abs(gap - 17)
            if best is None or total > best[0]:
                best = total, i, gap, j, a, b
    total, i, gap, j, a, b = best
    up, down = sequence[max(i - 18, 0) : i], sequence[j + 6 : j + 18]
    rest = [sum(c in "AT" for c in up) / 18, sum(c in "GC" for c in down) / 12, float(sequence[j - 4 : j] == "TGTG")]
    return [total, *a, *b, *(float(gap == g) for g in range(15, 20)), *rest]


def featurize(sequences):
    return np.array([place(s) for s in sequences])
