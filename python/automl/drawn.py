"""What was not chosen, drawn beside what was, in lists like those of the rows to predict."""

from collections import defaultdict

import numpy as np

from automl.formats import Columns
from automl.settings import ID, SEED, TARGETS

LISTS: list[str | int] = []
"""The column that says what a list is for, the one of what it lists, and its length."""
MOST_DRAWN = 30_000
"""Rows, of the last lists."""


def with_others(train: Columns) -> Columns:
    """Rows to learn from: what was chosen, and what else may have been, by how often it was."""
    list_of, thing, length = LISTS
    rng = np.random.default_rng(SEED)
    things, counts = np.unique(train[thing], return_counts=True)
    lists = defaultdict[str, list[int]](list)
    for row, name in enumerate(train[list_of]):
        lists[name].append(row)
    found: Columns = {name: [] for name in (ID, list_of, thing, *TARGETS)}
    for name, rows in list(lists.items())[-MOST_DRAWN // int(length) :]:
        chosen = [train[thing][row] for row in rows]
        free = np.where(np.isin(things, chosen), 0, counts)
        if not free.any():
            continue
        most = min(max(int(length) - len(rows), 1), np.count_nonzero(free))
        others = rng.choice(things, most, replace=False, p=free / free.sum()).tolist()
        ids = [train[ID][row] for row in rows] + [f"{rows[0]} {place}" for place in range(most)]
        told = zip(ids, chosen + others, ["1"] * len(rows) + ["0"] * most, strict=True)
        # Places must tell nothing.
        for each, listed, answer in rng.permutation(list(told)).tolist():
            for column, cell in zip(found, (each, name, listed, answer), strict=True):
                found[column].append(cell)
    return found
