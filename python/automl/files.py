"""Reads texts or pictures that lie in files of their own."""

from pathlib import Path

import numpy as np

from automl.data import Data, encode
from automl.formats import read_table
from automl.settings import ID, TARGETS, TEST

TRAIN_TABLE = ""
"""Lists the files to learn from with their answers; empty where each class has its own folder."""
TRAIN_FOLDER = "data/train"
TRAIN_COLUMN = "id"
TEST_FOLDER = "data/test"
TEST_COLUMN = "id"
SUFFIX = ".txt"
"""Of the names that the columns lack; empty where they are whole."""
ENDING = ".txt"
MOST_SIDE = 64


def find_files() -> tuple[list[Path], list[Path], list[tuple[str, ...]], list[str]]:
    """The files to learn from and to predict, the answers, and the ids."""
    asked = read_table(TEST)
    test = [Path(TEST_FOLDER, name + SUFFIX) for name in asked[TEST_COLUMN]]
    if not TRAIN_TABLE:
        train = sorted(Path(TRAIN_FOLDER).glob(f"*/*{ENDING}"))
        return train, test, [(path.parent.name,) for path in train], asked[ID]
    table = read_table(TRAIN_TABLE)
    train = [Path(TRAIN_FOLDER, name + SUFFIX) for name in table[TRAIN_COLUMN]]
    answers = list(zip(*(table[name] for name in TARGETS), strict=True))
    return train, test, answers, asked[ID]


def read_texts() -> tuple[Data, list[str]]:
    train, test, answers, ids = find_files()
    texts = [path.read_text(encoding="utf-8", errors="replace").strip() for path in train + test]
    return Data(ids, *encode(answers)), texts


def read_pictures() -> tuple[Data, np.ndarray]:
    """Pictures of all sizes, made as large as the usual one, or as 64 points a side."""
    from PIL import Image

    train, test, answers, ids = find_files()
    pictures = [Image.open(path).convert("RGB") for path in train + test]
    sides = np.median([picture.size for picture in pictures], axis=0)
    wide, high = (int(side) for side in np.maximum(sides * min(1, MOST_SIDE / sides.max()), 8))
    rows = [np.asarray(picture.resize((wide, high))) for picture in pictures]
    return Data(ids, *encode(answers)), np.array(rows)
