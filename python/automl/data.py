"""What there is to learn from, as the models like it."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from automl.settings import CLASSIFIES, COLUMNS

GAP = "missing"
NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")
NO_AND_YES = {("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("negative", "positive")}
CLEARLY_RARER = 0.4
"""Of other rows of the same table, the share does not come out on the other side of a half."""
MOST_DENSE = 2_000
"""Columns that trees are given at most."""


@dataclass
class Data:
    """All rows, those to learn from first."""

    ids: list[str]
    truth: np.ndarray
    """Classes as whole numbers, shape (rows,), or numbers, shape (rows, targets)."""
    classes: list[str]
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    """Columns of numbers; gaps are not-a-number."""
    names: dict[str, np.ndarray] = field(default_factory=dict)
    """Columns of names of things."""
    words: list[Any] = field(default_factory=list)
    """Wide columns, as sparse matrices, that only linear models and kernels are given."""
    groups: np.ndarray | None = None
    """Of the rows to learn from: those of one group belong together."""
    order: np.ndarray | None = None
    """Of the rows to learn from: the rows to predict come after the last."""

    @property
    def rows(self) -> int:
        return len(self.truth)


@dataclass
class Views:
    """The same columns prepared for each kind of model."""

    gaps: np.ndarray
    """Numbers with their gaps, then names as whole numbers."""
    name_columns: list[int]
    """Places of the names in it."""
    full: np.ndarray
    """Numbers without gaps, a column for each name; for trees."""
    scaled: Any
    """The same in units of their spread, with the wide columns, sparse if there are any; for linear
    models and kernels."""
    positive: np.ndarray | None
    """Numbers, where all are positive and there are no names."""


def make_views(data: Data) -> Views:
    size = data.rows + len(data.ids)
    numbers = as_matrix(list(data.numbers.values()), size)
    numbers = numbers[:, [varies(column) for column in numbers.T]]
    names = as_matrix([np.where(each == "", GAP, each) for each in data.names.values()], size, "O")
    names = names[:, [varies(column) for column in names.T]]
    codes = as_matrix([np.unique(each, return_inverse=True)[1] for each in names.T], size)
    filled = fill(numbers)
    levels, width = levels_of(names)
    scaled, dense = scale(filled), filled
    if width <= MOST_DENSE:
        dense = np.hstack([filled, *(np.eye(count)[places] for places, count in levels)])
        scaled = np.hstack([scaled, dense[:, filled.shape[1] :]])
    if width > MOST_DENSE or data.words:
        scaled = with_words(scaled, levels if width > MOST_DENSE else [], data.words)
    is_positive = not data.words and names.shape[1] == 0 and filled.size > 0 and filled.min() > 0
    places = list(range(numbers.shape[1], numbers.shape[1] + names.shape[1]))
    positive = filled if is_positive else None
    return Views(np.hstack([numbers, codes]), places, dense, scaled, positive)


def encode(answers: list[tuple[str, ...]]) -> tuple[np.ndarray, list[str]]:
    """What is to be learnt, and the names of the classes; one answer a row and target."""
    if not CLASSIFIES:
        return np.array(answers, float), []
    told = [row[0] for row in answers]
    classes = in_order(Counter(told))
    places = {name: place for place, name in enumerate(classes)}
    return np.array([places[name] for name in told], int), classes


def in_order(counts: Counter[str]) -> list[str]:
    """
    Numbers by their size. Of two names, the second one is what a probability or F1 is of: the one
    that the submission's column names, or the one that is clearly rarer, unless both are usual
    words for no and yes, which are in this order in the alphabet.
    """
    names = sorted(counts)
    if all(NUMBER.fullmatch(name) for name in names):
        return sorted(names, key=float)
    if len(names) != 2:
        return names
    words = re.split(r"[^a-z0-9]+", COLUMNS[0].lower())
    asked = [name for name in names if name.lower() in words]
    if len(asked) == 1:
        return [*(name for name in names if name not in asked), *asked]
    is_usual = (names[0].lower(), names[1].lower()) in NO_AND_YES
    rarer = min(names, key=counts.__getitem__)
    if is_usual or counts[rarer] > CLEARLY_RARER * counts.total():
        return names
    return sorted(names, key=lambda name: name == rarer)


def as_matrix(columns: list[np.ndarray], size: int, kind: str = "float") -> np.ndarray:
    return np.column_stack(columns).astype(kind) if columns else np.empty((size, 0), kind)


def varies(column: np.ndarray) -> bool:
    if column.dtype == object:
        return len(set(column)) > 1
    known = column[~np.isnan(column)]
    has_gaps = 0 < len(known) < len(column)
    return has_gaps or (len(known) > 0 and np.ptp(known) > 0)


def fill(numbers: np.ndarray) -> np.ndarray:
    middles = [np.median(column[~np.isnan(column)]) for column in numbers.T]
    return np.where(np.isnan(numbers), np.array(middles).reshape(1, -1), numbers)


def levels_of(names: np.ndarray) -> tuple[list[tuple[np.ndarray, int]], int]:
    """
    For each column of names the level of each row and the number of levels, and how many levels
    there are in all. Rare names are one level.
    """
    least = 10 if len(names) > 1_000 else 3
    levels = []
    for column in names.T:
        _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        kept = np.cumsum(counts >= least) - 1
        rare = kept[-1] + 1
        places = np.where(counts >= least, kept, rare)[places]
        levels.append((places, rare + int((counts < least).any())))
    return levels, sum(count for _, count in levels)


def with_words(scaled: np.ndarray, levels: list[tuple[np.ndarray, int]], words: list[Any]) -> Any:
    """All columns as one sparse matrix."""
    from scipy import sparse

    rows = np.arange(len(scaled))
    hot = [
        sparse.csr_matrix((np.ones(len(rows)), (rows, places)), shape=(len(rows), count))
        for places, count in levels
    ]
    return sparse.hstack([sparse.csr_matrix(scaled), *hot, *words]).tocsr()


def scale(numbers: np.ndarray) -> np.ndarray:
    """In units of their spread; far values are brought nearer where the tail is long."""
    if numbers.shape[1] == 0:
        return numbers
    middle, spread = numbers.mean(axis=0), np.maximum(numbers.std(axis=0), 1e-12)
    if share_a_unit(numbers):
        return (numbers - middle) / max(numbers.std(), 1e-12)
    skew = (((numbers - middle) / spread) ** 3).mean(axis=0)
    squashed = np.sign(numbers) * np.log1p(np.abs(numbers))
    numbers = np.where(np.abs(skew) > 1, squashed, numbers)
    return (numbers - numbers.mean(axis=0)) / np.maximum(numbers.std(axis=0), 1e-12)


def share_a_unit(numbers: np.ndarray) -> bool:
    """Whether many columns have the same range, as the points of pictures do."""
    if numbers.shape[1] < 16:
        return False
    reaches = numbers.max(axis=0) == numbers.max()
    return reaches.mean() >= 0.25 and (numbers.min(axis=0) == numbers.min()).mean() >= 0.5
