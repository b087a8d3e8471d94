"""Reads texts, pictures or recordings that lie in files of their own."""

import re
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from automl.data import Data
from automl.formats import PLAIN_PICTURE_ENDINGS, Columns
from automl.sequences import as_long
from automl.settings import ID
from automl.table import Maker, as_data, read_clean

TRAIN_FILES = ["id", "data/train", ".txt"]
"""The column that names files, their folder, and what the names lack."""
TEST_FILES = ["id", "data/test", ".txt"]
MOST_SIDE = 64


def paths_in(table: Columns, files: list[str]) -> list[Path]:
    column, folder, suffix = files
    return [Path(folder, name + suffix) for name in table[column]]


def read_texts(train: Columns, test: Columns) -> tuple[list[str], list[np.ndarray]]:
    """Adds the texts as a column of both."""
    for table, files in ((train, TRAIN_FILES), (test, TEST_FILES)):
        paths = paths_in(table, files)
        table["text"] = [path.read_text("utf-8", errors="replace").strip() for path in paths]
    return ["text"], []


def read_pictures(kinds: Sequence[Maker] = ()) -> tuple[Data, np.ndarray]:
    """Pictures of all sizes, made as large as the usual one, or as 64 points a side."""
    train, test = read_clean()
    paths = paths_in(train, TRAIN_FILES) + paths_in(test, TEST_FILES)
    if paths[0].suffix.lower() in PLAIN_PICTURE_ENDINGS:
        plain = [read_plain_picture(path) for path in paths]
        if len({each.shape for each in plain}) == 1:
            return without_files(train, test, kinds), np.array(plain)
    from PIL import Image

    pictures = [Image.open(path).convert("RGB") for path in paths]
    sides = np.median([picture.size for picture in pictures], axis=0)
    wide, high = (int(side) for side in np.maximum(sides * min(1, MOST_SIDE / sides.max()), 8))
    rows = [np.asarray(picture.resize((wide, high))) for picture in pictures]
    return without_files(train, test, kinds), np.array(rows)


def read_plain_picture(path: Path) -> np.ndarray:
    """Netpbm's grey and coloured maps, as numbers or bytes: shape (height, width, channels)."""
    read = path.read_bytes()
    head = re.match(rb"P([2356])(?:\s+#.*)*\s+(\d+)\s+(\d+)\s+(\d+)\s", read)
    if head is None:
        raise ValueError(f"{path} is no picture of Netpbm")
    kind, wide, high, most = map(int, head.groups())
    rest = read[head.end() :]
    kind_of_bytes = ">u2" if most > 255 else "u1"
    points = np.array(rest.split(), int) if kind < 4 else np.frombuffer(rest, kind_of_bytes)
    channels = 3 if kind in (3, 6) else 1
    return points[: high * wide * channels].reshape(high, wide, channels)


def without_files(train: Columns, test: Columns, kinds: Sequence[Maker]) -> Data:
    """What the tables say besides; what a file is called says nothing."""
    if TEST_FILES[0] != ID:
        del test[TEST_FILES[0]]
    return as_data(train, test, kinds)


def read_recordings(kinds: Sequence[Maker] = ()) -> tuple[Data, np.ndarray]:
    """Arrays or sounds, all as long as the usual one: shape (rows, length) or with channels."""
    train, test = read_clean()
    rows = [
        read_sound(path) if path.suffix.lower() == ".wav" else np.load(path, allow_pickle=False)
        for path in paths_in(train, TRAIN_FILES) + paths_in(test, TEST_FILES)
    ]
    if len({row.shape for row in rows}) > 1:
        # Time is the first axis but for few long channels.
        rows = as_long([row if row.shape[0] == max(row.shape) else row.T for row in rows])
    return without_files(train, test, kinds), np.array(rows)


def read_sound(path: Path) -> np.ndarray:
    """Shape (length,), or (length, channels) of several."""
    with wave.open(str(path)) as sound:
        bits = 8 * sound.getsampwidth()
        kind, channels = "u1" if bits == 8 else f"<i{bits // 8}", sound.getnchannels()
        read = np.frombuffer(sound.readframes(sound.getnframes()), kind)
    return read.reshape(-1, channels) if channels > 1 else read
