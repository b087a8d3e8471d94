"""Features of an event log."""

import numpy as np

LETTERS = "UDSOCLRHWPTX"


def letter_counts(log: str) -> np.ndarray:
    """How often each letter occurs, and the length."""
    return np.array([log.count(letter) for letter in LETTERS] + [len(log)], dtype=float)


def feature_matrix(logs) -> np.ndarray:
    return np.vstack([letter_counts(log) for log in logs])
