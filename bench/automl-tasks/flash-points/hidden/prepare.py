"""Made-up solvents as SMILES; the flash point follows from size, branching, groups and hydrogen bonds.

A molecule is a tree of fragments. Each carries additive contributions, but the value saturates with
size, hydroxyls and acids bind each other (more than additive), halogens quench, branching lowers, and
two neighbouring polar groups lower the volatility less than two distant ones.
"""

import math
import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

rng = random.Random(7741)
MOLECULES = 1500
HIDDEN = 450

# name: (as a prefix of a chain, heavy atoms, mass, polarity, donors, acceptors, halogens)
ENDS = {
    "C": (1, 15, 0, 0, 0, 0),
    "CC": (2, 29, 0, 0, 0, 0),
    "O": (1, 17, 1.4, 1, 1, 0),
    "N": (1, 16, 1.1, 1, 1, 0),
    "Cl": (1, 35, 0.7, 0, 0, 1),
    "Br": (1, 80, 0.8, 0, 0, 1),
    "F": (1, 19, 0.2, 0, 0, 1),
    "N#C": (2, 26, 1.9, 0, 1, 0),
    "OC(=O)": (3, 45, 2.0, 1, 2, 0),
    "CC(=O)": (3, 43, 1.5, 0, 1, 0),
    "CO": (2, 31, 0.7, 0, 1, 0),
    "COC(=O)": (4, 59, 1.4, 0, 2, 0),
    "CN(C)": (3, 44, 0.8, 0, 1, 0),
    "O=C": (2, 29, 1.5, 0, 1, 0),
    "C=C": (2, 27, 0.1, 0, 0, 0),
    "c1ccccc1": (6, 77, 0.5, 0, 0, 0),
    "C1CCCCC1": (6, 83, 0, 0, 0, 0),
    "c1ccncc1": (6, 78, 1.3, 0, 1, 0),
    "c1ccoc1": (5, 67, 0.7, 0, 1, 0),
}
# what a group looks like as a branch: "C(...)"
BRANCH = {
    "C": "C", "CC": "CC", "O": "O", "N": "N", "Cl": "Cl", "Br": "Br", "F": "F", "N#C": "C#N", "OC(=O)": "C(=O)O",
    "CC(=O)": "C(C)=O", "CO": "OC", "COC(=O)": "C(=O)OC", "CN(C)": "N(C)C", "O=C": "C=O", "C=C": "C=C",
    "c1ccccc1": "c1ccccc1", "C1CCCCC1": "C1CCCCC1", "c1ccncc1": "c1ccncc1", "c1ccoc1": "c1ccoc1",
}
NAMES = list(ENDS)
WEIGHTS = [9, 5, 6, 3, 3, 1, 2, 2, 3, 3, 4, 4, 3, 2, 3, 4, 2, 2, 2]


def make():
    """SMILES and flash point in degrees Celsius."""
    length = rng.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10])
    chain, places, groups = [], [], []
    ring = rng.random() < 0.22
    for place in range(length):
        atom = "C"
        if rng.random() < 0.28:
            name = rng.choices(NAMES, WEIGHTS)[0]
            atom = f"C({BRANCH[name]})"
            groups.append(name)
            places.append(place)
            if rng.random() < 0.12:
                atom += "(C)" if rng.random() < 0.6 else "(F)"
                extra = "C" if atom.endswith("(C)") else "F"
                groups.append(extra)
                places.append(place)
        elif rng.random() < 0.06:
            atom = "O" if 0 < place < length - 1 and chain[-1] != "O" else "C"
        chain.append(atom)
    ethers = chain.count("O")
    first, last = rng.choices(NAMES, WEIGHTS, k=2)
    groups += [first, last]
    places += [-1, length]
    core = "".join(chain)
    if ring:
        aryl = rng.choice(["c2ccc({})cc2", "c2cccc({})c2", "c2ccccc2{}"])
        kind = aryl.index("{")
        tail = aryl.replace("{}", BRANCH[last])
        smiles = first + core + tail
    else:
        kind = 0
        smiles = first + core + BRANCH[last]

    facts = [ENDS[name] for name in groups]
    heavy = length + sum(fact[0] for fact in facts) + 6 * ring
    polar = sum(fact[2] for fact in facts) + 0.6 * ethers + 0.4 * ring
    donors = sum(fact[3] for fact in facts)
    acceptors = sum(fact[4] for fact in facts) + ethers
    halogens = sum(fact[5] for fact in facts)
    bromines = groups.count("Br")
    branches = sum(1 for place in places if 0 <= place < length)
    acids = groups.count("OC(=O)")
    aromatic = ring + sum(name.startswith("c1") for name in groups)
    polar_places = sorted(p for p, f in zip(places, facts) if f[2] >= 0.7)
    close = sum(1 for a, b in zip(polar_places, polar_places[1:]) if b - a <= 1)

    value = -62 + 205 * (1 - math.exp(-heavy / 13))
    value += 17 * math.sqrt(polar * 2) + 22 * min(donors, 3) ** 0.8
    value += 7 * min(donors, acceptors - donors if acceptors > donors else 0)
    value += 16 * acids - 5.5 * branches * (1 - 0.25 * (heavy > 14))
    value += 9 * aromatic + 6 * bromines + 4 * halogens - 3.2 * halogens**2 * (donors == 0)
    value -= 9 * close
    if ring:
        value += {5: 6, 6: 2}.get(kind, -4) * (donors > 0)
    value += rng.gauss(0, 5.5)
    return smiles, round(value, 1)


found = {}
while len(found) < MOLECULES:
    smiles, value = make()
    if len(smiles) > 3:
        found.setdefault(smiles, value)
smiles = list(found)
ordered = [smiles[place] for place in order_by_content([[text] for text in smiles])]
header = ["compound", "smiles", "flash_point_c"]
rows = [[f"m{number:04d}", text, found[text]] for number, text in enumerate(ordered)]
folders = read_folders()
write_table(folders.public / "compounds_train.csv", header, rows[HIDDEN:])
write_hidden_test(
    folders, header, rows[:HIDDEN], "compound", "flash_point_c", test="compounds_test.csv"
)
