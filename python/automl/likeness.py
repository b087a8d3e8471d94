"""How alike two columns of the same kind are, as the names in a pair of records."""

import re
from collections import Counter

import numpy as np

from automl.data import Data
from automl.formats import Columns, as_number, counterparts

LETTERS = 3
"""In the pieces of texts that are compared."""


def compare(train: Columns, test: Columns, data: Data) -> None:
    """Adds how near numbers are, and which share of words and of pieces texts have in common."""
    for one, other in counterparts([name for name in test if name in train]):
        pair = [train[name] + test[name] for name in (one, other)]
        label = f"{one} and {other}"
        numbers = [np.array([as_number(cell) for cell in cells]) for cells in pair]
        if min(np.mean(~np.isnan(each)) for each in numbers) > 0.5:
            data.numbers[f"{label} apart"] = np.abs(numbers[0] - numbers[1])
        for kind, split in (("words", words_of), ("pieces", pieces_in)):
            parts = [[split(cell) for cell in cells] for cells in pair]
            data.numbers[f"{label} same {kind}"] = shares_in_common(*parts)


def shares_in_common(some: list[set[str]], others: list[set[str]]) -> np.ndarray:
    """
    The weight of what both have as a share of what either has; what is rare weighs more (the
    logarithm of its rarity). Not-a-number where one is empty.
    """
    often = Counter(part for each in (*some, *others) for part in each)
    weights = {part: np.log(1 + 2 * len(some) / count) for part, count in often.items()}

    def weight(parts: set[str]) -> float:
        return sum(weights[part] for part in parts)

    return np.array(
        [
            weight(one & other) / weight(one | other) if one and other else np.nan
            for one, other in zip(some, others, strict=True)
        ]
    )


def words_of(cell: str) -> set[str]:
    return set(re.findall(r"\w+", cell.lower()))


def pieces_in(cell: str) -> set[str]:
    text = " ".join(["", *re.findall(r"[^\W_]+", cell.lower()), ""])
    return {text[at : at + LETTERS] for at in range(len(text) - LETTERS + 1)}
