"""Synthetic DNA windows in the format of the original file.

Each gene has its own base composition. Junctions have realistic base preferences around the middle,
and acceptors have a pyrimidine tract (C and T) before it; some windows
without a junction also have GT or AG in the middle.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

GENES = 450
LENGTH = 60
MIDDLE = LENGTH // 2
BASES = np.array(list("ACGT"))
# Position relative to the middle: (preferred base, its frequency there).
DONOR = {
    -3: ("C", 0.4),
    -2: ("A", 0.62),
    -1: ("G", 0.8),
    0: ("G", 1.0),
    1: ("T", 1.0),
    2: ("A", 0.6),
    3: ("A", 0.7),
    4: ("G", 0.82),
    5: ("T", 0.5),
}
ACCEPTOR = {-3: ("C", 0.7), -2: ("A", 1.0), -1: ("G", 1.0), 0: ("G", 0.55), 1: ("T", 0.35)}
# Positions of the pyrimidine tract relative to the middle, and its share of C and T.
STRETCH, STRETCH_SHARE = range(-16, -3), 0.8
DECOY_SHARE = 0.15


def place(random: np.random.Generator, window: np.ndarray, preferences: dict) -> None:
    """Writes the preferred bases into a window with their frequencies."""
    for offset, (base, share) in preferences.items():
        if random.random() < share:
            window[MIDDLE + offset] = base


def make_window(random: np.random.Generator, kind: str, composition: np.ndarray) -> str:
    window = random.choice(BASES, LENGTH, p=composition)
    if kind == "EI":
        place(random, window, DONOR)
    elif kind == "IE":
        for offset in STRETCH:
            if random.random() < STRETCH_SHARE:
                window[MIDDLE + offset] = random.choice(["C", "T"])
        place(random, window, ACCEPTOR)
    elif random.random() < DECOY_SHARE:
        decoy = ((0, "G"), (1, "T")) if random.random() < 0.5 else ((-2, "A"), (-1, "G"))
        for offset, base in decoy:
            window[MIDDLE + offset] = base
    return "".join(window)


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    lines = []
    for gene in range(GENES):
        composition = random.dirichlet([20, 20, 20, 20])
        for _ in range(int(random.integers(1, 5))):
            kind = str(random.choice(["EI", "IE", "N"], p=[0.24, 0.24, 0.52]))
            role = {"EI": "DONOR", "IE": "ACCEPTOR", "N": "NEG"}[kind]
            name = f"HUMSAMPLE{gene}-{role}-{random.integers(1, 9000)}"
            lines.append(f"{kind},    {name},    {make_window(random, kind, composition)}\n")
    (sample.downloads / "splice.data").write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
