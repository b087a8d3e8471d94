"""Reads arrays of numbers or of pictures, one row for each thing."""

from pathlib import Path

import numpy as np

from automl.data import Data, encode
from automl.formats import is_table, read_table
from automl.settings import ID, TARGETS, TEST
from automl.waves import SHORTEST, are_sequences, swings_of

TRAIN_ARRAY = ["data/train.npy", ""]
"""A file, and the name in an archive of several arrays."""
TEST_ARRAY = ["data/test.npy", ""]
LABELS = ["data/labels.npy", ""]
"""The same; or a table whose columns are the targets, in the order of the rows."""
BY_PLACE = False
"""Whether an id is the place of its row in the array, from 0; else the rows are in its order."""
MOST_PIXELS = 64
MOST_POINTS = 1_024
"""Columns that models of numbers are given of a sequence at most."""
MOST_CHANNELS = 24
"""Of sequences, for whose swings there are columns."""
MOST_SQUARES = 512
"""The same of a picture, besides those of its edges."""
DIRECTIONS = 8
CELLS = 4
"""Along each side of a picture."""
AT_ONCE = 500
"""Pictures, for the sake of memory."""


def read_array(file: list[str]) -> np.ndarray:
    path, key = file
    read = np.load(path, allow_pickle=False)
    return read[key] if key else read


def read_arrays() -> tuple[Data, np.ndarray]:
    """Everything but the rows themselves, and the rows, those to learn from first."""
    ids, test = read_table(TEST)[ID], read_array(TEST_ARRAY)
    asked = test[[int(each) for each in ids]] if BY_PLACE else test[: len(ids)]
    if is_table(Path(LABELS[0])):
        table = read_table(LABELS[0])
        labels = np.column_stack([table[name] for name in TARGETS])
    else:
        labels = read_array(LABELS)
    answers = [tuple(map(str, row)) for row in labels.reshape(len(labels), -1).tolist()]
    return Data(ids, *encode(answers)), np.concatenate([read_array(TRAIN_ARRAY), asked])


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


def as_sequences(rows: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """
    Sequences of shape (rows, length), (rows, length, channels) or (rows, channels, length): the
    means of blocks if they are long, and what each channel is like as a whole.
    """
    rows = (rows[:, :, None] if rows.ndim == 2 else rows).astype(float)
    long = rows if rows.shape[1] > rows.shape[2] else rows.transpose(0, 2, 1)
    count, length, channels = long.shape
    whole = [measure(long, axis=1) for measure in (np.mean, np.std, np.min, np.max)]
    whole.append(np.abs(np.diff(long, axis=1)).mean(axis=1))
    if length >= SHORTEST and channels <= MOST_CHANNELS:
        whole += [swings_of(channel) for channel in long.transpose(2, 0, 1)]
    times = -(-length // max(1, MOST_POINTS // channels))
    cut = long[:, : length // times * times].reshape(count, -1, times, channels)
    return cut.mean(axis=2), whole


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


def as_numbers(data: Data, rows: np.ndarray) -> Data:
    """
    Every place of the arrays is a column; of large pictures, the means of squares, and of large
    sequences the means of blocks, and what each channel is like as a whole. The edges in pictures
    are columns, too, and how strongly each channel of sequences swings.
    """
    more: list[np.ndarray] = []
    is_long = rows.ndim == 3 and rows.shape[1] != rows.shape[2]
    if is_long or (rows.ndim == 2 and are_sequences(rows)):
        rows, more = as_sequences(rows)
    elif rows.ndim in (3, 4):
        pictures = as_pictures(rows)
        if min(pictures.shape[2:]) >= 2 * CELLS:
            parts = np.array_split(pictures, -(-len(pictures) // AT_ONCE))
            more = [np.vstack([edges_in(each) for each in parts])]
        times = int(np.ceil(np.sqrt(pictures[0].size / MOST_SQUARES)))
        rows = shrink(pictures, min(times, *pictures.shape[2:]))
    flat = np.hstack([rows.reshape(len(rows), -1), *more]).astype(float)
    data.numbers = {f"place {place}": column for place, column in enumerate(flat.T)}
    return data
