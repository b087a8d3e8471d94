import re

import numpy as np

TOKEN = re.compile(r"\[[^\]]*\]|Cl|Br|[A-Za-z]|[=#()]|\d")
PIECES = [
    "C(=O)OC", "C(=O)O", "(=O)", "C=O", "C#N", "N#C", "[N+](=O)[O-]", "c1ccccc1", "c1ccncc1", "c1ccco1", "C1CCCCC1",
    "C1CCCC1", "(O)", "(N)", "(F)", "(Cl)", "(C)", "(CC)", "(OC)", "C=C", "C(F)(F)F", "(C)(C)",
]  # fmt: skip
ATOMS = ["C", "c", "N", "n", "O", "o", "F", "Cl", "Br", "S", "=", "#", "("]


def featurize(smiles):
    tokens = TOKEN.findall(smiles)
    atoms = [t for t in tokens if t not in "=#()" and not t.isdigit()]
    last = atoms[-1]
    # An O or N with only one neighbour carries hydrogen.
    donors = len(re.findall(r"\([ON]\)|(?<!\))[ON]$|\(=O\)O$|^[ON](?!#)", smiles))
    return [
        len(atoms), *(tokens.count(a) for a in ATOMS), *(smiles.count(p) for p in PIECES),
        *(smiles.endswith(p) for p in ("O", "N", "S", "F", "Cl", "Br", "OC", "C(=O)OC", "C(=O)O", "C=O", "C#N")),
        donors, max(0, donors - 1), last == "C", smiles.startswith("O"), smiles.startswith("N"), smiles.startswith("Cl"),
    ]  # fmt: skip


def matrix(rows):
    return np.array([featurize(row["smiles"]) for row in rows], dtype=float)
