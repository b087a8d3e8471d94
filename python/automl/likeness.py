"""How alike two columns of the same kind are, as the names in a pair of records."""

import re
from collections import Counter
from itertools import combinations

import numpy as np

from automl.cells import as_number, counterparts
from automl.data import Data
from automl.formats import Columns

LETTERS = 3
"""In the pieces of texts that are compared."""
MOST_ROWS = 2_000
LEAST_SHARED = 0.1
"""Words of a row, beyond those by chance."""


def compare(train: Columns, test: Columns, data: Data) -> None:
    """Adds how near numbers are, and which share of words and of pieces texts have in common."""
    columns = {name: train[name] + test[name] for name in test if name in train}
    for one, other in counterparts(list(columns)) or akin(columns):
        pair = [columns[name] for name in (one, other)]
        label = f"{one} and {other}"
        numbers = [np.array([as_number(cell) for cell in cells]) for cells in pair]
        if min(np.mean(~np.isnan(each)) for each in numbers) > 0.5:
            data.numbers[f"{label} apart"] = np.abs(numbers[0] - numbers[1])
        for kind, split in SPLITS.items():
            parts = [[set(split(cell.lower())) for cell in cells] for cells in pair]
            share, apart = in_common(*parts)
            data.numbers[f"{label} same {kind}"] = share
            data.numbers[f"{label} other {kind}"] = apart


def akin(columns: Columns) -> list[tuple[str, str]]:
    """Columns of words of which the cells of a row share more than those of different rows."""
    words = {
        name: [set(re.findall(r"[^\W\d_]{3,}", cell.lower())) for cell in cells[:MOST_ROWS]]
        for name, cells in columns.items()
        if np.mean([len(cell.split()) for cell in cells]) > 1.5
    }
    found = []
    for (one, some), (other, others) in combinations(words.items(), 2):
        shared = [
            np.mean([len(a & b) for a, b in zip(some, np.roll(others, start), strict=True)])
            for start in (0, 1)
        ]
        if shared[0] > shared[1] + LEAST_SHARED:
            found.append((one, other))
    return found


def in_common(some: list[set[str]], others: list[set[str]]) -> tuple[np.ndarray, np.ndarray]:
    """
    The weight of what both have as a share of what either has, and the weight of what the one has
    alone that has less of it, each shape (rows,). What is rare weighs more (the logarithm of its
    rarity). Not-a-number where one is empty.
    """
    often = Counter(part for each in (*some, *others) for part in each)
    weights = {part: np.log(1 + 2 * len(some) / count) for part, count in often.items()}
    found = np.full((2, len(some)), np.nan)
    for row, (one, other) in enumerate(zip(some, others, strict=True)):
        if one and other:
            both, *alone = (
                sum(weights[part] for part in parts)
                for parts in (one & other, one - other, other - one)
            )
            found[:, row] = both / (both + sum(alone)), min(alone)
    return found[0], found[1]


def pieces_in(cell: str) -> list[str]:
    text = " ".join(["", *re.findall(r"[^\W_]+", cell), ""])
    return [text[at : at + LETTERS] for at in range(len(text) - LETTERS + 1)]


SPLITS = {
    "words": re.compile(r"\w+").findall,
    "pieces": pieces_in,
    "numbers": re.compile(r"\d+(?:[.,]\d+)?").findall,
}
