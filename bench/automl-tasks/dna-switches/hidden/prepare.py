"""Makes up stretches of DNA that switch a gene on or not: two degenerate motifs, their distance, and composition."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_table

LENGTH, TRAIN, TEST = 90, 1800, 1400
FIRST, SECOND, BRAKE = "TTGACAG", "TATAATC", "CCGGAAG"
KEEP = 0.90  # share of the letters of a motif that are kept

folders = read_folders()
rng = np.random.default_rng(31337)


def degenerate(motif):
    return "".join(letter if rng.random() < KEEP else "ACGT"[rng.integers(4)] for letter in motif)


def background():
    at = float(np.clip(rng.normal(0.52, 0.06), 0.3, 0.75))
    return list(rng.choice(list("ACGT"), LENGTH, p=[at / 2, (1 - at) / 2, (1 - at) / 2, at / 2])), at


def place(letters, motif, start):
    letters[start : start + len(motif)] = list(degenerate(motif))


def make():
    letters, at = background()
    logit = -1.9 + 9 * (at - 0.52)
    kind = rng.choice(["both", "first", "second", "far", "none"], p=[0.38, 0.14, 0.16, 0.14, 0.18])
    start = int(rng.integers(3, 40))
    if kind in ("both", "first", "far"):
        place(letters, FIRST, start)
        logit += 0.7
    if kind == "both":
        place(letters, SECOND, start + 7 + int(rng.integers(14, 20)))
        logit += 4.2
    if kind == "second":
        place(letters, SECOND, int(rng.integers(20, 80)))
        logit += 1.0
    if kind == "far":  # the right motifs in the wrong order
        place(letters, FIRST, int(rng.integers(55, 80)))
        place(letters, SECOND, int(rng.integers(3, 45)))
        logit += 0.3
    if rng.random() < 0.3:
        place(letters, BRAKE, int(rng.integers(0, 83)))
        logit -= 2.6
    active = rng.random() < 1 / (1 + np.exp(-1.3 * logit))
    sequence = "".join(letters)
    if rng.random() < 0.1:  # letters that the sequencer could not read
        at = int(rng.integers(0, LENGTH - 3))
        sequence = sequence[:at] + "NN" + sequence[at + 2 :]
    return sequence, int(active)


rows = [make() for _ in range(TRAIN + TEST)]
names = [f"seq{n}" for n in rng.permutation(90000)[: len(rows)] + 10000]


def fasta(path, chosen, sequences):
    with path.open("w", encoding="ascii", newline="") as file:
        for name, sequence in zip(chosen, sequences, strict=True):
            file.write(f">{name}\n{sequence[:60]}\n{sequence[60:]}\n")


sequences = [sequence for sequence, _ in rows]
fasta(folders.public / "train.fa", names[:TRAIN], sequences[:TRAIN])
fasta(folders.public / "test.fa", names[TRAIN:], sequences[TRAIN:])
labelled = [(name, active) for name, (_, active) in zip(names, rows, strict=True)]
write_table(folders.public / "activity.csv", ["name", "active"], labelled[:TRAIN])
write_table(folders.public / "example_submission.csv", ["name", "score"], [(name, 0.5) for name in names[TRAIN:]])
write_table(folders.private / "labels.csv", ["name", "active"], labelled[TRAIN:])
