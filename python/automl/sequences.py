"""What sequences of numbers are like."""

import numpy as np

from automl.settings import SEED

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
SPANS = (32, 128)
FEWEST_SPANS = 8
MOST_CHANNELS_IN_SPANS = 4
QUANTILES_OF_SPANS = (0.5, 0.1, 0.9, 1)
PATTERNS = 1_000
POINTS_OF_PATTERN = 9
HIGH_POINTS = 3
WIDTHS_OF_PATTERNS = 6
MOST_TOGETHER = 5
"""Channels in which a pattern is looked for at once."""
MOST_PLACES = 400_000_000
"""Of all patterns in all rows, for the sake of time."""
ROWS_FOR_EDGES = 100


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


def swings_in_spans(rows: np.ndarray, width: int) -> np.ndarray:
    """
    How strongly rows, shape (rows, length), swing in each band in spans of so many points, whenever
    these are: the median of all spans, how far other quantiles lie from it, and how much it changes
    from one span to the next, shape (rows, 5 x BANDS).
    """
    count = rows.shape[1] // width
    swings = swings_of(rows[:, : count * width].reshape(-1, width)).reshape(len(rows), count, BANDS)
    middle, *others = np.quantile(swings, QUANTILES_OF_SPANS, axis=1)
    steps = np.abs(np.diff(swings, axis=1)).mean(axis=1)
    return np.hstack([middle, *(each - middle for each in others), steps])


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
    channel is like as a whole, and how strongly it swings, also in spans of time.
    """
    count, length, channels = long.shape
    whole = [measure(long, axis=1) for measure in (np.mean, np.std, np.min, np.max)]
    whole.append(np.abs(np.diff(long, axis=1)).mean(axis=1))
    if length >= SHORTEST and channels <= MOST_CHANNELS:
        whole += [swings_of(channel) for channel in long.transpose(2, 0, 1)]
    if channels <= MOST_CHANNELS_IN_SPANS:
        widths = {max(SHORTEST, length // count) for count in SPANS}
        fit = [width for width in sorted(widths) if length // width >= FEWEST_SPANS]
        whole += [swings_in_spans(each, width) for each in long.transpose(2, 0, 1) for width in fit]
    most = FEW_POINTS if length * channels > MOST_POINTS else MOST_POINTS
    times = -(-length // max(1, most // channels))
    cut = long[:, : length // times * times].reshape(count, -1, times, channels)
    return np.hstack([cut.mean(axis=2).reshape(count, -1), *whole])


def patterns_in(long: np.ndarray) -> np.ndarray:
    """
    At how many places each of many patterns is in each of the sequences, shape (rows, length,
    channels), as shares, shape (rows, patterns). A pattern has nine points at equal distances,
    three of them high and the others low (Dempster, Schmidt and Webb, MiniRocket, 2021).
    """
    length, channels = long.shape[1:]
    chance = np.random.default_rng(SEED)
    spread = np.maximum(long.std(axis=(0, 1)), 1e-12)
    scaled = ((long - long.mean(axis=(0, 1))) / spread).transpose(2, 0, 1).astype(np.float32)
    some = chance.permutation(len(long))[:ROWS_FOR_EDGES]
    skip = -(-len(long) * length * PATTERNS // MOST_PLACES)
    most = max(1, (length - 1) // (POINTS_OF_PATTERN - 1))
    widths = np.unique(np.geomspace(1, most, WIDTHS_OF_PATTERNS).astype(int))
    told = []
    for width in widths:
        beside = width * (POINTS_OF_PATTERN // 2)
        wider = np.pad(scaled, ((0, 0), (0, 0), (beside, beside)), mode="edge")
        starts = range(0, width * POINTS_OF_PATTERN, width)
        points = [wider[:, :, start : start + length : skip] for start in starts]
        whole = sum(points)
        for _ in range(PATTERNS // len(widths)):
            high = chance.permutation(POINTS_OF_PATTERN)[:HIGH_POINTS]
            together = chance.integers(1, min(channels, MOST_TOGETHER) + 1)
            like = np.zeros(whole.shape[1:], np.float32)
            for channel in chance.permutation(channels)[:together]:
                # Its points together are 0.
                like -= whole[channel]
                for point in high:
                    like += POINTS_OF_PATTERN // HIGH_POINTS * points[point][channel]
            edge = np.quantile(like[some], chance.uniform(0.1, 0.9))
            told.append((like > edge).mean(axis=1))
    return np.column_stack(told)
