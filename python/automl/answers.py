"""What a task asks for, and the columns that have the answers."""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from automl.asked import asked_by
from automl.cells import DATE
from automl.look import Column, Table, describe, kind_of

# What the task asks for.
TEST = "data/test.csv"
ID = "id"
ASKED: list[list[Any]] = [["target", "number", -1e300, 1e300, []]]
"""The columns of the submission: name, type, least and greatest value, and values if listed."""
LIKE = ""
"""The starter's submission, where that alone shows what is asked for."""
TEXTS: list[str] = []
"""The names of what lines of JSON have as texts there."""
if LIKE:
    TEST, ID, ASKED, TEXTS = asked_by(Path(LIKE))
NAMES = [name for name, *_ in ASKED]
METRIC = "mae"
"""As in metric-names.ts."""
TOLD: list[float] = []
"""The quantiles that the task's text names, if they are judged."""
RANKED = re.compile(r"@ ?\d|dcg|reciprocal|hit rate")
"""In names of metrics of the order of rows."""


SAY_NOTHING = {"", "p", "pred", "predicted", "prediction", "expected", "prob", "probability", "id"}
"""Words in names of columns."""


QUANTILE_NAME = re.compile(
    r"(?:^|[^a-z])(?:p|q|pct|percentile|quantile)_?(?:(0?\.\d+)|(\d\d?))$", re.IGNORECASE
)


class NoModelError(Exception):
    """Why no model can be written."""


class Answers(NamedTuple):
    targets: list[Column]
    by_class: bool = False
    """The submission has a column for each value of the only target."""


@dataclass
class Source:
    kind: str
    """`table`, `arrays` or `files`."""
    place: str
    """For people."""
    settings: dict[str, Any]
    """Where the script that learns finds everything."""
    rows: int
    targets: list[Column]
    by_class: bool
    columns: Counter[str]
    """How many columns of a table are of each kind."""
    is_wide: bool
    """A row is hundreds of numbers."""
    are_pictures: bool = False
    beside: Counter[str] = field(default_factory=Counter)
    """The same of columns of other tables that are joined."""
    ending: str = ""
    """Of the files that hold the rows."""


def answers_in(test: Table, table: Table, renamed: bool = False) -> Answers | None:
    """
    The columns that the rows to predict lack and that have the names of the targets, or the one
    whose classes the targets are named like. `renamed`: whatever they are called in the submission,
    the only such column, or for each target the only one that shares a word with it, or of one
    target the only one that scripts name.
    """
    more = {
        name: describe(name, cells) for name, cells in table.cells.items() if name not in test.cells
    }
    if all(name in more for name in NAMES):
        return Answers([more[name] for name in NAMES])
    classes = [column for column in more.values() if classes_of(NAMES, column.values)]
    if len(classes) == 1:
        return Answers(classes, by_class=True)
    if not renamed:
        return None
    if len(more) == 1 and quantiles_in(NAMES):
        return Answers(list(more.values()) * len(NAMES))
    found = [[each for each in more if words(each) & words(name)] for name in NAMES]
    is_only = len(more) == len(NAMES) == 1
    names = list(more) if is_only else [same[0] for same in found if len(same) == 1]
    if not names and len(NAMES) == 1:
        names = quoted_in_scripts(more)
    return Answers([more[name] for name in names]) if len(set(names)) == len(NAMES) else None


def quoted_in_scripts(names: Iterable[str]) -> list[str]:
    """Those that other scripts of the workspace have in quotes, as a starter what it learns."""
    others = [path for path in Path().glob("*.py") if path.name != Path(sys.argv[0]).name]
    text = "\n".join(path.read_text("utf-8", errors="replace") for path in others)
    return [name for name in names if re.search(rf"([\"']){re.escape(name)}\1", text)]


def quantiles_in(names: list[str]) -> list[float]:
    """Of columns such as p10 and p90, or q0.1 and q0.9; of others, those told for each."""
    found = [QUANTILE_NAME.search(name) for name in names]
    named = [float(each[1] or int(each[2]) / 100) for each in found if each]
    of_each = [told for told in (named, TOLD) if len(set(told)) == len(names) > 1]
    return of_each[0] if of_each else []


def words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower())) - SAY_NOTHING


def classes_of(columns: list[str], values: list[str]) -> list[str]:
    """
    The class that each column is about: `streets` for `p_streets`, if all columns have the same
    text around the class. Empty if the columns are not one for each class.
    """
    if len(columns) < 2 or len(values) != len(columns):
        return []
    for value in filter(None, values):
        before, found, after = columns[0].partition(value)
        classes = [name[len(before) : len(name) - len(after)] for name in columns]
        around = [f"{before}{each}{after}" for each in classes]
        if found and around == columns and set(classes) == set(values):
            return classes
    return []


def shared(test: Table, table: Table) -> list[str]:
    """Columns that tell something of the rows of both; ids do where they are dates."""
    are_dates = any(map(DATE.match, test.cells[ID][:1]))
    known = test.cells.keys() - {*NAMES, *([] if are_dates else [ID])}
    return [name for name in table.cells if name in known]


def kinds_of(test: Table, table: Table, without: Iterable[str] = ()) -> Counter[str]:
    names = [name for name in shared(test, table) if name not in without]
    return Counter(kind_of(table.cells[name]) for name in names)
