"""Cells that are lists of numbers, such as a sensor's, and columns that are one such list."""

import re
from collections import defaultdict

import numpy as np

from automl.cells import is_number, numbers_in
from automl.data import Data
from automl.formats import Columns
from automl.sequences import SHORTEST, as_long
from automl.settings import TARGETS
from automl.shapes import add_shapes


def add_lists(name: str, cells: list[str], data: Data) -> bool:
    """The numbers of each place; if they are sequences or pictures, what these look like."""
    rows = [np.array(numbers_in(cell)) for cell in cells]
    if sum(len(row) > 0 for row in rows) < len(rows):
        return False
    add_shapes(name, as_long(rows), data)
    return True


def gather(train: Columns, test: Columns) -> None:
    """Makes columns that are numbered, such as px0 to px255, and full of numbers, one of lists."""
    numbered = defaultdict[str, list[str]](list)
    for name in test:
        if name in train and name not in TARGETS and re.search(r"\d$", name):
            numbered[re.sub(r"\d+$", "", name)].append(name)
    for start, names in numbered.items():
        tables = (train, test)
        if len(names) >= SHORTEST and all(
            is_number(cell) for table in tables for name in names for cell in table[name]
        ):
            names.sort(key=lambda name: int(name[len(start) :]))
            for table in tables:
                table[f"{start}*"] = list(map(" ".join, zip(*map(table.pop, names), strict=True)))
