"""Made-up molecules as SMILES and their retention index on a gas chromatograph's column."""

import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN, TEST = 1300, 900
HEADER = ["compound", "smiles", "retention_index"]
# What a fragment adds to the index; what it adds in the middle of a chain is less.
GROUPS = {
    "O": 235, "N": 215, "Cl": 165, "Br": 262, "F": 18, "C#N": 330, "C(=O)O": 395, "C(=O)OC": 290, "C=O": 240,
    "OC": 150, "S": 205, "c1ccccc1": 455, "c1ccncc1": 520, "c1ccco1": 310, "C1CCCCC1": 415, "C1CCCC1": 330,
    "[N+](=O)[O-]": 430, "C(F)(F)F": 75,
}  # fmt: skip
BRANCHES = {"C": 62, "CC": 155, "O": 190, "=O": 170, "F": 8, "Cl": 120, "N": 175, "OC": 118}
DONORS = {"O", "N", "C(=O)O"}


def molecule(rng: random.Random) -> tuple[str, float]:
    length = rng.randint(2, 11)
    smiles, index, donors, place = "", 100.0 * length, 0, 0
    while place < length:
        if 0 < place < length - 2 and rng.random() < 0.08:
            smiles += "C=C"
            index += 9
            place += 2
            continue
        smiles += "C"
        if 0 < place < length - 1 and rng.random() < 0.22:
            branch = rng.choice(list(BRANCHES))
            smiles += f"({branch})"
            index += BRANCHES[branch]
            donors += branch in DONORS
        elif 1 < place < length - 1 and rng.random() < 0.08:
            smiles += "O"
            index += 66
        place += 1
    if rng.random() < 0.75:
        end = rng.choice(list(GROUPS))
        smiles += end
        index += GROUPS[end]
        donors += end in DONORS
    if rng.random() < 0.3:
        start = rng.choice(["CC(C)", "OC", "NC", "ClC", "c1ccccc1", "N#CC", "Cc1ccccc1", "CC(C)(C)"])
        smiles = start + smiles
        index += {"CC(C)": 260, "OC": 335, "NC": 315, "ClC": 265, "c1ccccc1": 455, "N#CC": 430, "Cc1ccccc1": 545,
                  "CC(C)(C)": 315}[start]  # fmt: skip
        donors += start in ("OC", "NC")
    index += 70 * max(0, donors - 1)
    return smiles, index


def main() -> None:
    folders = read_folders()
    rng = random.Random(5150)
    found: dict[str, float] = {}
    while len(found) < TRAIN + TEST:
        smiles, index = molecule(rng)
        found.setdefault(smiles, round(index * rng.gauss(1, 0.012) + rng.gauss(0, 16), 1))
    rows = [[smiles, index] for smiles, index in found.items()]
    rng.shuffle(rows)
    rows = [[f"c{number}", *row] for number, row in enumerate(rows, 1)]
    write_table(folders.public / "compounds_train.csv", HEADER, rows[:TRAIN])
    write_hidden_test(folders, HEADER, rows[TRAIN:], "compound", "retention_index")
    (folders.public / "test.csv").rename(folders.public / "compounds_test.csv")


if __name__ == "__main__":
    main()
