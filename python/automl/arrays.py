"""Reads arrays of numbers or of pictures, one row for each thing."""

from collections.abc import Sequence

import numpy as np

from automl.data import Data, encode
from automl.formats import read_table
from automl.settings import ID, TEST
from automl.shapes import add_shapes
from automl.table import ROW, Maker, as_data, read_clean

TRAIN_ARRAY = ["data/train.npy", ""]
"""A file, and the name in an archive of several arrays."""
TEST_ARRAY = ["data/test.npy", ""]
LABELS: list[str] = []
"""The same; none where a table has the answers, in the order of the rows, or by place where one
array has all rows."""
BY_PLACE = False
"""Whether an id is the place of its row in the array, from 0; else the rows are in its order."""


def read_array(file: list[str]) -> np.ndarray:
    path, key = file
    read = np.load(path, allow_pickle=False)
    return read[key] if key else read


def read_arrays(kinds: Sequence[Maker] = ()) -> tuple[Data, np.ndarray]:
    """Everything but the rows themselves, and the rows, those to learn from first."""
    known, test = read_array(TRAIN_ARRAY), read_array(TEST_ARRAY)
    if LABELS:
        labels = read_array(LABELS)
        answers = [tuple(map(str, row)) for row in labels.reshape(len(labels), -1).tolist()]
        data = Data(read_table(TEST)[ID], *encode(answers))
    else:
        train, asked = read_clean()
        known = known[[int(each) for each in train[ID if TRAIN_ARRAY == TEST_ARRAY else ROW]]]
        data = as_data(train, asked, kinds)
    places = [int(each) for each in data.ids] if BY_PLACE else range(len(data.ids))
    return data, np.concatenate([known, test[places]])


def as_numbers(data: Data, rows: np.ndarray) -> Data:
    """Rows of arrays as columns."""
    add_shapes("place", rows, data)
    return data
