import numpy as np

ATOMS = "CNO"


def featurize(smiles):
    """Length of the string and how often a few atoms occur in it."""
    return [len(smiles)] + [smiles.count(atom) for atom in ATOMS]


def matrix(rows):
    return np.array([featurize(row["smiles"]) for row in rows], dtype=float)
