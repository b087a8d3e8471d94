"""What there is to learn from, as the models like it."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from automl.formats import as_number, is_number
from automl.settings import CLASSIFIES, COLUMNS, POSITIVE, VALUES

GAP = "missing"
MOST_DENSE = 2_000
"""Columns that trees are given at most."""
NEGATIVE = re.compile(r"0(\.0*)?|-1|no?|f|false|neg(ative)?|absent|(not?|non)\W.*", re.IGNORECASE)
"""Names of classes that say that something is not so."""
CLEARLY_RARER = 0.4
"""Of other rows of the same table, the share does not come out on the other side of a half."""


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
    often = Counter(row[0] for row in answers)
    names = sorted(often)
    if all(map(is_number, names)):
        names.sort(key=as_number)
    elif often.keys() <= set(VALUES):
        names.sort(key=VALUES.index)
    if len(names) == 2 and positive_of(names, often) == names[0]:
        names.reverse()
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[row[0]] for row in answers]), names


def positive_of(names: list[str], often: Counter[str]) -> str:
    """Which of two classes a probability or an F1 is about."""
    column = COLUMNS[0] if len(COLUMNS) == 1 else ""
    affirmed = [name for name in names if not NEGATIVE.fullmatch(name)]
    named = named_in(column, names) or (affirmed[0] if len(affirmed) == 1 else "")
    # Short names may be words that mean something else.
    if not named and min(map(len, names)) > 2:
        named = named_in(" ".join(POSITIVE), names)
    rarer = min(names, key=lambda name: often[name])
    if not named and len(affirmed) == 2 and often[rarer] < CLEARLY_RARER * often.total():
        return rarer
    return named or names[1]


def named_in(text: str, names: list[str]) -> str:
    """The one of two names whose words, or other forms of them, a text has; else an empty one."""
    told = words_in(text) - {"p", "prob", "probability"}

    def is_told(word: str) -> bool:
        return word in told or any(
            len(min(word, each, key=len)) >= 4 and (word.startswith(each) or each.startswith(word))
            for each in told
        )

    # "Not paid" has the words of "paid" and one more.
    first, second = (len(words_in(name)) * all(map(is_told, words_in(name))) for name in names)
    return "" if first == second else names[first < second]


def words_in(text: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return set(re.findall(r"[^\W_]+", apart.lower()))


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
