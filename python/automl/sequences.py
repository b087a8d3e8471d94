"""What sequences of numbers are like."""

import numpy as np

BANDS = 16
IN_AN_OCTAVE = 3
SHORTEST = 16
"""Shorter sequences have no swings to speak of."""
ROWS_AT_ONCE = 2_000
"""Rows, for the sake of memory."""
MOST_POINTS = 1_024
"""Columns that models of numbers are given of a sequence at most."""
FEW_POINTS = 256
"""The same of longer sequences, of which a single point says little."""
MOST_CHANNELS = 24
"""Of sequences, for whose swings there are columns."""


def as_long(rows: list[np.ndarray]) -> np.ndarray:
    """Rows of one shape but for their lengths: cut, or with their last values repeated."""
    length = int(np.median([len(row) for row in rows]))
    places = np.arange(length)
    return np.array([row[np.minimum(places, len(row) - 1)] for row in rows])


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


def as_columns(long: np.ndarray) -> np.ndarray:
    """
    Of sequences, shape (rows, length, channels): the means of blocks if they are long, what each
    channel is like as a whole, and how strongly it swings.
    """
    count, length, channels = long.shape
    whole = [measure(long, axis=1) for measure in (np.mean, np.std, np.min, np.max)]
    whole.append(np.abs(np.diff(long, axis=1)).mean(axis=1))
    if length >= SHORTEST and channels <= MOST_CHANNELS:
        whole += [swings_of(channel) for channel in long.transpose(2, 0, 1)]
    most = FEW_POINTS if length * channels > MOST_POINTS else MOST_POINTS
    times = -(-length // max(1, most // channels))
    cut = long[:, : length // times * times].reshape(count, -1, times, channels)
    return np.hstack([cut.mean(axis=2).reshape(count, -1), *whole])
