"""Reads arrays of numbers or of pictures, one row for each thing."""

from pathlib import Path

import numpy as np

from automl.data import Data, encode
from automl.formats import is_table, read_table
from automl.settings import ID, TARGETS, TEST
from automl.shapes import columns_of

TRAIN_ARRAY = ["data/train.npy", ""]
"""A file, and the name in an archive of several arrays."""
TEST_ARRAY = ["data/test.npy", ""]
LABELS = ["data/labels.npy", ""]
"""The same; or a table whose columns are the targets, in the order of the rows, or by place where
one array has all rows."""
BY_PLACE = False
"""Whether an id is the place of its row in the array, from 0; else the rows are in its order."""


def read_array(file: list[str]) -> np.ndarray:
    path, key = file
    read = np.load(path, allow_pickle=False)
    return read[key] if key else read


def read_arrays() -> tuple[Data, np.ndarray]:
    """Everything but the rows themselves, and the rows, those to learn from first."""
    ids, test = read_table(TEST)[ID], read_array(TEST_ARRAY)
    asked = test[[int(each) for each in ids]] if BY_PLACE else test[: len(ids)]
    known = read_array(TRAIN_ARRAY)
    if is_table(Path(LABELS[0])):
        table = read_table(LABELS[0])
        if TRAIN_ARRAY == TEST_ARRAY:
            known = known[[int(each) for each in table[ID]]]
        labels = np.column_stack([table[name] for name in TARGETS])
    else:
        labels = read_array(LABELS)
    answers = [tuple(map(str, row)) for row in labels.reshape(len(labels), -1).tolist()]
    return Data(ids, *encode(answers)), np.concatenate([known, asked])


def as_numbers(data: Data, rows: np.ndarray) -> Data:
    """Rows of arrays as columns."""
    data.numbers = {f"place {place}": column for place, column in enumerate(columns_of(rows).T)}
    return data
