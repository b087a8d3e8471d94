"""Amounts with units, as in 12.5 m, $1,200, 3h 20m or 64 x 48."""

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from automl.cells import as_number
from automl.data import Data
from automl.table import FEW_LEVELS, recurs

NUMBER = re.compile(
    r"(?<![\d.])(?:(?<!\w)[+-])?"
    r"(?:(?:\d+ )?\d+/(?:2|4|8|16|32|64)(?![\d/])|(?<!,)\d+,\d\d?(?![\d,])"
    r"|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
)
"""Also fractions, as 1 3/4 of an inch, and decimal commas."""
MOST_WAYS = 20
"""To write what stands around the numbers."""


def add_amounts(name: str, cells: list[str], data: Data) -> bool:
    """The numbers in each cell, what stands around them, and numbers in units of their own kind."""
    known = [cell for cell in cells if cell]
    numbers = {cell: NUMBER.findall(cell) for cell in set(known)}
    ways = {cell: re.sub(r"\s+", "", NUMBER.sub("#", cell)).lower() for cell in numbers}
    usual, times = Counter(len(numbers[cell]) for cell in known).most_common(1)[0]
    often = Counter(ways[cell] for cell in known)
    is_plain = often["#"] > 0.7 * len(known)
    if is_plain or not 1 <= usual <= 3 or times < 0.9 * len(known) or len(often) > MOST_WAYS:
        return False
    around = np.array([ways.get(cell, "") for cell in cells], dtype=object)
    for place in range(usual):
        column = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            found = numbers.get(cell, [])
            column[row] = number_of(found[place]) if len(found) == usual else np.nan
        data.numbers[f"{name} number {place}"] = column
        if len(often) > 1:
            # One unit is many of another: what is usual in each is taken for the same. Degrees of
            # one scale have another zero than those of another, too.
            middles, spreads = (measured(column, around, of) for of in (np.median, np.std))
            data.numbers[f"{name} size {place}"] = column / middles
            data.numbers[f"{name} place {place}"] = (column - middles) / spreads
    data.names[f"{name} around"] = around
    if len(numbers) <= FEW_LEVELS or recurs(cells, data):
        data.names[name] = np.array(cells, dtype=object)
    return True


def number_of(text: str) -> float:
    if "/" in text:
        return float(sum(map(Fraction, text.split())))
    return as_number(re.sub(r",(?=\d\d?$)", ".", text))


def measured(
    column: np.ndarray, kinds: np.ndarray, of: Callable[[np.ndarray], float]
) -> np.ndarray:
    """For each row, a measure of the known numbers of its kind; 1 where that is 0 or unknown."""
    found = np.ones(len(column))
    for kind in set(kinds):
        told = column[(kinds == kind) & ~np.isnan(column)]
        found[kinds == kind] = (of(told) if len(told) else 0) or 1
    return found
