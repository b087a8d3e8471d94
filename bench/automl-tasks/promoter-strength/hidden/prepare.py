"""Makes up promoters: two boxes with mutations and a spacer, an UP element, and noise."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.preparing import read_folders, write_table

folders, rng = read_folders(), np.random.default_rng(3510)
WEIGHTS35, WEIGHTS10 = [1.0, 1.1, 0.9, 0.5, 0.7, 0.4], [0.9, 1.3, 0.5, 0.6, 0.5, 1.2]


def random_bases(count, at):
    return "".join(rng.choice(list("ATCG"), count, p=[at / 2, at / 2, (1 - at) / 2, (1 - at) / 2]))


def box(consensus, weights):
    rate, lost, text = rng.choice([0.08, 0.25, 0.5]), 0.0, ""
    for base, weight in zip(consensus, weights):
        if rng.random() < rate:
            other = rng.choice([b for b in "ACGT" if b != base])
            text, lost = text + other, lost + weight
        else:
            text += base
    return text, lost


def promoter():
    at = rng.uniform(0.35, 0.65)
    first, lost35 = box("TTGACA", WEIGHTS35)
    second, lost10 = box("TATAAT", WEIGHTS10)
    spacer = rng.choice([15, 16, 17, 18, 19], p=[0.12, 0.2, 0.36, 0.2, 0.12])
    up, down = random_bases(rng.integers(18, 30), at), random_bases(rng.integers(14, 26), at)
    between = random_bases(spacer, at)
    extended = rng.random() < 0.25
    if extended:
        between = between[:-4] + "TGTG"
    sequence = up + first + between + second + down
    near = up[-18:]
    value = 7.5 - 0.85 * lost35 - 0.9 * lost10 - 0.45 * abs(int(spacer) - 17) ** 1.2 + 0.9 * extended
    value += 2.4 * (sum(b in "AT" for b in near) / 18 - 0.5) - 3.0 * (sum(b in "GC" for b in down[:12]) / 12 - 0.5)
    value = np.log2(1 + 2 ** (1.1 * value - 1.0))
    chars = np.array(list(sequence))
    chars[rng.random(len(chars)) < 0.004] = "N"
    return "".join(chars), round(float(value + rng.normal(0, 0.45)), 3)


made = [promoter() for _ in range(4500)]
ids = [f"prm{number}" for number in 10000 + rng.permutation(4500)]
with open(folders.public / "measured.fasta", "w") as f:
    for name, (sequence, value) in list(zip(ids, made))[:3000]:
        f.write(f">{name} log2={value}\n{sequence[:60]}\n{sequence[60:]}\n")
rest = range(3000, 4500)
write_table(folders.public / "to_predict.csv", ["id", "sequence"], [[ids[i], made[i][0]] for i in rest])
write_table(folders.private / "measured.csv", ["id", "log2"], [[ids[i], made[i][1]] for i in rest])
