"""What there is to learn from, as the models like it, and what they say of it."""

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from automl.cells import as_number, is_number
from automl.scores import likeliest
from automl.settings import (
    BOUNDS,
    CLASS_COLUMNS,
    CLASSIFIES,
    COLUMNS,
    ID,
    POSITIVE,
    ROUNDS_TO_WHOLE,
    SUBMISSION,
    TEXTS,
    VALUES,
    WRITES_PROBABILITY,
)

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
    when: np.ndarray | None = None
    """The times of all rows, where those to predict come after all others."""
    starts: dict[str, datetime] = field(default_factory=dict)
    """The first moment in each column of dates."""

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
    words: Any = None
    """The wide columns alone, sparse; None if there are none."""


def make_views(data: Data) -> Views:
    size = data.rows + len(data.ids)
    numbers = as_matrix(list(data.numbers.values()), size)
    names = as_matrix([np.where(each == "", GAP, each) for each in data.names.values()], size, "O")
    codes = as_matrix([np.unique(each, return_inverse=True)[1] for each in names.T], size)
    filled = np.where(np.isnan(numbers), np.nanmedian(numbers, axis=0, keepdims=True), numbers)
    levels = [levels_of(column) for column in names.T]
    scaled, dense = scale(filled), filled
    if sum(int(each.max()) + 1 for each in levels) <= MOST_DENSE:
        hot = [np.eye(each.max() + 1)[each] for each in levels]
        scaled, dense, levels = np.hstack([scaled, *hot]), np.hstack([filled, *hot]), []
    if levels or data.words:
        scaled = with_words(scaled, levels, data.words)
    places = list(range(numbers.shape[1], numbers.shape[1] + names.shape[1]))
    wide = with_words(np.empty((size, 0)), [], data.words) if data.words else None
    return Views(np.hstack([numbers, codes]), places, dense, scaled, wide)


def encode(answers: list[tuple[str, ...]]) -> tuple[np.ndarray, list[str]]:
    """What is to be learnt, and the names of the classes; one answer a row and target."""
    if not CLASSIFIES:
        return np.array([list(map(as_number, row)) for row in answers]), []
    told = [row[0] for row in answers]
    often = Counter(told)
    names = sorted(often)
    if all(map(is_number, names)):
        names.sort(key=as_number)
    elif often.keys() <= set(VALUES):
        names.sort(key=VALUES.index)
    if len(names) == 2 and positive_of(names, often) == names[0]:
        names.reverse()
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[each] for each in told]), names


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
    """Those columns that are not the same in all rows."""
    varied = [each for each in columns if len(np.unique(each)) > 1]
    return np.column_stack(varied).astype(kind) if varied else np.empty((size, 0), kind)


def levels_of(names: np.ndarray) -> np.ndarray:
    """Numbers for names, from 0. Rare names have the last one together."""
    least = 10 if len(names) > 1_000 else 3
    _, places, counts = np.unique(names, return_inverse=True, return_counts=True)
    often = counts >= least
    return np.where(often, np.cumsum(often) - 1, often.sum())[places]


def with_words(scaled: np.ndarray, levels: list[np.ndarray], words: list[Any]) -> Any:
    """All columns as one sparse matrix."""
    from scipy import sparse

    rows = np.arange(len(scaled))
    hot = [sparse.csr_matrix((np.ones(len(rows)), (rows, each))) for each in levels]
    return sparse.hstack([sparse.csr_matrix(scaled), *hot, *words]).tocsr()


def scale(numbers: np.ndarray) -> np.ndarray:
    """In units of their spread; far values are brought nearer where the tail is long."""
    if numbers.shape[1] == 0:
        return numbers
    middle, spread = numbers.mean(axis=0), np.maximum(numbers.std(axis=0), 1e-12)
    least, most = numbers.min(axis=0) == numbers.min(), numbers.max(axis=0) == numbers.max()
    # Many columns of one range, as the points of pictures, share a unit.
    if len(middle) >= 16 and most.mean() >= 0.25 and least.mean() >= 0.5:
        return (numbers - middle) / max(numbers.std(), 1e-12)
    skew = (((numbers - middle) / spread) ** 3).mean(axis=0)
    squashed = np.sign(numbers) * np.log1p(np.abs(numbers))
    numbers = np.where(np.abs(skew) > 1, squashed, numbers)
    return (numbers - numbers.mean(axis=0)) / np.maximum(numbers.std(axis=0), 1e-12)


def write_submission(data: Data, guess: np.ndarray) -> None:
    columns: dict[str, np.ndarray] = {}
    if CLASS_COLUMNS:
        for name, told in CLASS_COLUMNS:
            columns[name] = guess[:, data.classes.index(told)]
    elif CLASSIFIES and WRITES_PROBABILITY:
        columns[COLUMNS[0]] = guess[:, 1]
    elif CLASSIFIES:
        columns[COLUMNS[0]] = np.array(data.classes, dtype=object)[likeliest(guess)]
    else:
        for place, name in enumerate(COLUMNS):
            column = np.clip(guess[:, place], *BOUNDS[place])
            columns[name] = column.round().astype(int) if name in ROUNDS_TO_WHOLE else column
    Path(SUBMISSION).parent.mkdir(parents=True, exist_ok=True)
    if SUBMISSION.endswith(".npy"):
        ((name, column),) = columns.items()
        kind = str if name in TEXTS else int if name in ROUNDS_TO_WHOLE else float
        np.save(SUBMISSION, column.astype(kind))
        return
    rows = zip(data.ids, *(column.tolist() for column in columns.values()), strict=True)
    with open(SUBMISSION, "w", newline="", encoding="utf-8") as file:
        if SUBMISSION.endswith(".jsonl"):
            file.writelines(f"{line_of([ID, *columns], row)}\n" for row in rows)
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ID, *columns])
        writer.writerows(rows)


def line_of(names: list[str], cells: tuple[str | float, ...]) -> str:
    """A row as JSON."""
    told = dict(zip(names, cells, strict=True))
    for name, cell in told.items():
        if isinstance(cell, str) and name not in TEXTS:
            told[name] = json.loads(cell)
    return json.dumps(told)
