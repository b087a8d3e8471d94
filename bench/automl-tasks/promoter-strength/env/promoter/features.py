"""Sequences to numbers."""
from itertools import product

import numpy as np

PAIRS = ["".join(p) for p in product("ACGT", repeat=2)]


def composition(sequence: str) -> list[float]:
    length = len(sequence)
    singles = [sequence.count(base) / length for base in "ACGT"]
    pairs = [sum(sequence[i : i + 2] == p for i in range(length - 1)) / (length - 1) for p in PAIRS]
    return singles + pairs


def featurize(sequences) -> np.ndarray:
    return np.array([composition(s) for s in sequences])
