"""How strongly sequences of numbers swing, slowly or fast."""

import numpy as np

BANDS = 16
IN_AN_OCTAVE = 3
SHORTEST = 16
"""Shorter sequences have no swings to speak of."""
ROWS_AT_ONCE = 2_000
"""Rows, for the sake of memory."""


def swings_of(rows: np.ndarray) -> np.ndarray:
    """
    The logarithm of the power of each row, shape (rows, length), in bands of frequencies, shape
    (rows, BANDS): the first is the fastest, down from half a swing a step; the last has all that
    are slower. From the discrete Fourier transform.
    """
    if len(rows) > ROWS_AT_ONCE:
        parts = np.array_split(rows, -(-len(rows) // ROWS_AT_ONCE))
        return np.vstack([swings_of(part) for part in parts])
    around = rows - rows.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(around, axis=1))[:, 1:] ** 2 / rows.shape[1]
    octaves = -np.log2(2 * np.fft.rfftfreq(rows.shape[1])[1:])
    band = np.minimum((IN_AN_OCTAVE * octaves).astype(int), BANDS - 1)
    in_bands = power @ (band[:, None] == np.arange(BANDS)).astype(float)
    return np.log(in_bands + 1e-9 * power.sum(axis=1, keepdims=True) + 1e-300)


def are_sequences(rows: np.ndarray) -> bool:
    """Whether neighbours in a row, shape (rows, length), are more alike than others in it."""
    if rows.shape[1] < SHORTEST:
        return False
    # Whole numbers without a sign have no negative steps.
    rows = rows[:ROWS_AT_ONCE].astype(float)
    steps = np.diff(rows, axis=1) ** 2
    return bool(steps.mean() < 0.7 * 2 * rows.var(axis=1).mean())
