"""What sequences of numbers, and pictures, look like."""

import numpy as np

from automl.data import Data
from automl.sequences import ROWS_AT_ONCE, are_sequences, as_columns
from automl.settings import SEED

MOST_PIXELS = 64
"""Along each side of a picture."""
MOST_SQUARES = 512
"""Columns of a picture too small for edges."""
FEW_SQUARES = 50
"""The same of others: where they are light is told by edges and patches."""
DIRECTIONS = 8
CELLS = 4
"""Along each side of a picture."""
PATCH = 6
"""Points along its side."""
KINDS_OF_PATCHES = 64
MOST_FOR_PATCHES = 32
"""Points along each side of a picture."""
MOST_PATCHES = 1_500_000
"""Of all pictures, for the sake of time."""
PICTURES_AT_ONCE = 100
"""For the sake of memory."""
QUANTILES_OF_POINTS = (0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1)
BLURS = (3, 5)
"""Points along the sides of squares."""


def add_shapes(name: str, rows: np.ndarray, data: Data) -> None:
    """What the rows of an array, shape (rows, ...), look like, as columns."""
    long = sequences_in(rows)
    columns = columns_of(rows) if long is None else as_columns(long)
    data.numbers |= {f"{name} {place}": column for place, column in enumerate(columns.T)}


def sequences_in(rows: np.ndarray) -> np.ndarray | None:
    """Shape (rows, length, channels); none if the rows are something else, such as pictures."""
    if rows.ndim == 2 and side_of(rows) == 0 and are_sequences(rows):
        return rows[:, :, None].astype(float)
    if rows.ndim == 3 and rows.shape[1] != rows.shape[2]:
        long = rows if rows.shape[1] > rows.shape[2] else rows.transpose(0, 2, 1)
        return long.astype(float)
    return None


def columns_of(rows: np.ndarray) -> np.ndarray:
    """
    Every place of the arrays is a column, shape (rows, columns); of large pictures, the means of
    squares. The edges and patches in pictures are columns, too.
    """
    more: list[np.ndarray] = []
    side = side_of(rows)
    if side > 0:
        rows = rows.reshape(len(rows), side, side)
    if rows.ndim in (3, 4):
        pictures, most = as_pictures(rows), MOST_SQUARES
        if min(pictures.shape[2:]) >= 2 * CELLS:
            parts = np.array_split(pictures, -(-len(pictures) // PICTURES_AT_ONCE))
            told = [np.vstack(list(map(way, parts))) for way in (edges_in, spread_of)]
            more = [*told, patches_in(pictures)]
            most = FEW_SQUARES
        times = int(np.ceil(np.sqrt(pictures[0].size / most)))
        rows = shrink(pictures, min(times, *pictures.shape[2:]))
    return np.hstack([rows.reshape(len(rows), -1), *more]).astype(float)


def side_of(rows: np.ndarray) -> int:
    """Of pictures that are written as rows of numbers, shape (rows, length); 0 of anything else."""
    side = int(np.sqrt(rows.shape[1])) if rows.ndim == 2 else 0
    if side < 2 * CELLS or side * side != rows.shape[1]:
        return 0
    some = rows[:ROWS_AT_ONCE].astype(float)
    # One point below is more alike than one half a line away, which it is not in a sequence.
    near, below, far = (
        ((some[:, step:] - some[:, :-step]) ** 2).mean() for step in (1, side, side // 2)
    )
    return side if max(near, below) < 0.95 * min(far, 2 * some.var(axis=1).mean()) else 0


def as_pictures(rows: np.ndarray) -> np.ndarray:
    """Shape (pictures, channels, height, width), of 64 points a side at most, scaled."""
    if rows.ndim == 3:
        rows = rows[:, None]
    elif rows.shape[-1] <= 4 < rows.shape[1]:
        rows = rows.transpose(0, 3, 1, 2)
    side = max(rows.shape[2:])
    pictures = shrink(rows, -(-side // MOST_PIXELS))
    middle = pictures.mean(axis=(0, 2, 3), keepdims=True)
    return (pictures - middle) / np.maximum(pictures.std(axis=(0, 2, 3), keepdims=True), 1e-6)


def shrink(pictures: np.ndarray, times: int) -> np.ndarray:
    """The means of squares of points."""
    count, channels, height, width = pictures.shape
    high, wide = height // times, width // times
    cut = pictures[:, :, : high * times, : wide * times].astype(np.float32)
    return cut.reshape(count, channels, high, times, wide, times).mean(axis=(3, 5))


def edges_in(pictures: np.ndarray) -> np.ndarray:
    """
    How strong the edges of each direction are in each cell of a picture (Dalal and Triggs 2005),
    and, however it is turned, in the cells and directions with the most of them.
    """
    grey = pictures.mean(axis=1, keepdims=True)
    down, right = np.gradient(grey, axis=2), np.gradient(grey, axis=3)
    turn = np.arctan2(down, right) / np.pi * DIRECTIONS % DIRECTIONS
    apart = np.abs(turn - np.arange(DIRECTIONS)[:, None, None])
    shares = np.clip(1 - np.minimum(apart, DIRECTIONS - apart), 0, None)
    found = shrink(np.hypot(down, right) * shares, min(grey.shape[2:]) // CELLS)
    found = found.reshape(len(found), DIRECTIONS, -1)
    strength = np.linalg.norm(found, axis=(1, 2))[:, None] + 1e-9
    told = [found.reshape(len(found), -1), np.sort(found.sum(axis=1)), np.sort(found.sum(axis=2))]
    return np.hstack([strength, *(each / strength for each in told)])


def spread_of(pictures: np.ndarray) -> np.ndarray:
    """
    How light the points of each channel are, and those of the grey picture in units of its spread,
    blurred, beside their surroundings and their neighbours, and in lines: quantiles, which do not
    depend on where something is.
    """
    grey = pictures.mean(axis=1)
    middle, size = grey.mean(axis=(1, 2), keepdims=True), grey.std(axis=(1, 2), keepdims=True)
    grey = (grey - middle) / (size + 1e-6)
    ways = [*pictures.transpose(1, 0, 2, 3), grey, grey.mean(axis=1), grey.mean(axis=2)]
    ways += [np.diff(grey, axis=1), np.diff(grey, axis=2)]
    for side in BLURS:
        cut = np.lib.stride_tricks.sliding_window_view(grey, (side, side), axis=(1, 2))
        blurred, edge = cut.mean(axis=(3, 4)), side // 2
        ways += [blurred, grey[:, edge:-edge, edge:-edge] - blurred]
    flat = [each.reshape(len(each), -1) for each in ways]
    return np.hstack([np.quantile(each, QUANTILES_OF_POINTS, axis=1).T for each in flat])


def patches_in(pictures: np.ndarray) -> np.ndarray:
    """
    How much of each kind of patch, and of its negative, there is in each quarter of a picture. The
    kinds are the means of clusters of whitened patches, found without the answers (Coates and Ng,
    Learning feature representations with k-means, 2012).
    """
    pictures = shrink(pictures, -(-max(pictures.shape[2:]) // MOST_FOR_PATCHES))
    step = int(np.ceil(np.sqrt(pictures[:, 0].size / MOST_PATCHES)))
    step = min(step, min(pictures.shape[2:]) // 4)
    chance = np.random.default_rng(SEED)
    some = patches_of(pictures[chance.permutation(len(pictures))[:1_000]], step)
    some = chance.permutation(some.reshape(-1, some.shape[-1]))[:20_000]
    middle = some.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov(some, rowvar=False, dtype=some.dtype))
    whiten = axes / np.sqrt(np.abs(spread) + 0.1 * spread.mean() + 1e-9) @ axes.T
    some = (some - middle) @ whiten
    kinds = of_length_one(some[:KINDS_OF_PATCHES])
    for _ in range(10):
        like = some @ kinds.T
        # Each patch belongs to the kind that it, or its negative, is most like.
        is_most = np.abs(like) == np.abs(like).max(axis=1, keepdims=True)
        kinds = of_length_one((is_most * like).T @ some)
    told = []
    for part in np.array_split(pictures, -(-len(pictures) // PICTURES_AT_ONCE)):
        like = (patches_of(part, step) - middle) @ (whiten @ kinds.T)
        found = np.concatenate([np.maximum(like - 0.5, 0), np.maximum(-like - 0.5, 0)], axis=3)
        halves = np.array_split(found, 2, axis=1)
        quarters = [each for half in halves for each in np.array_split(half, 2, axis=2)]
        told.append(np.hstack([each.mean(axis=(1, 2)) for each in quarters]))
    return np.vstack(told)


def of_length_one(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def patches_of(pictures: np.ndarray, step: int) -> np.ndarray:
    """Squares of points, scaled, shape (pictures, rows of them, columns of them, points)."""
    side = min(PATCH, min(pictures.shape[2:]) // 2)
    cut = np.lib.stride_tricks.sliding_window_view(pictures, (side, side), axis=(2, 3))
    cut = cut[:, :, ::step, ::step]
    flat = cut.transpose(0, 2, 3, 1, 4, 5).reshape(len(cut), *cut.shape[2:4], -1)
    flat = flat - flat.mean(axis=3, keepdims=True)
    return flat / np.sqrt(flat.var(axis=3, keepdims=True) + 0.05)
