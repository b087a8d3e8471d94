"""Reads tables and makes features of their columns."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from automl.cells import DATE, as_number, cleaned, is_number, parts_of
from automl.data import Data, encode
from automl.formats import Columns, read_table, with_rows
from automl.settings import CLASSIFIES, ID, TARGETS, TEST

TRAIN = ["data/train.csv"]
"""Tables of the same columns."""
ANSWERS = ""
"""The table that tells the targets by id, or in the same order, where TRAIN has none."""
FILE_COLUMN = ""
"""The column that the names of the files of TRAIN, and of folders of tables, stand for."""
TEST_IDS = ""
"""The table that tells which rows of TEST are to be predicted, where it has others."""
ROW = "row of the table"
"""A column of the rows to learn from alone."""
FEW_LEVELS = 60
FEW_VALUES = 20
"""Numbers with more different values are measured, and have a middle."""
MOST_USUAL = 40
LEAST_USUAL = 5
"""Names of so many levels have usual numbers, of so many rows each."""
MOST_DEVIATIONS = 150
"""Columns."""
BESIDE = (" around", " in words")
"""Ends of the names of columns that only say how others are written."""
OFTEN = 8
"""Longer lists of names are learnt by name where each occurs so often, on the mean."""

Cells = list[str]
Maker = Callable[[str, Cells, Data], bool]
"""Makes features of a column, if it is of the kind that it knows."""
Joiner = Callable[[Columns, Columns], list[str]]
"""Adds columns to the rows to learn from and to those to predict; tells which."""
Gatherer = Callable[[Columns, Columns], None]
"""Makes one of several columns of both."""


def add_numbers(name: str, cells: Cells, data: Data) -> bool:
    """Numbers; among them may be words, which are then kept as names."""
    numbers = np.array([as_number(cell) for cell in cells])
    share = np.sum(~np.isnan(numbers)) / max(sum(map(bool, cells)), 1)
    if share < 0.3:
        return False
    data.numbers[name] = numbers
    if re.search(r"(?:^|[_ ])(?:id|code)$|[a-z]I[dD]$", name) and recurs(cells, data):
        # Numbers that name users, shops or things have no order.
        data.names[f"{name} by name"] = np.array(cells, dtype=object)
    if share < 0.98:
        words = np.where(np.isnan(numbers), cells, "number")
        data.names[f"{name} in words"] = words.astype(object)
    return True


def add_names(name: str, cells: Cells, data: Data) -> bool:
    """Names, of which RB-7, `rb 7` and `Rb7 ` are one."""
    cells = [re.sub(r"[\s_-]", "", cell.lower()) or cell for cell in cells]
    if len(set(cells)) <= FEW_LEVELS or recurs(cells, data):
        data.names[name] = np.array(cells, dtype=object)
        return True
    return False


def recurs(cells: Cells, data: Data) -> bool:
    """Whether the rows to predict have the names of the others, each of which occurs often."""
    train, test = cells[: data.rows], cells[data.rows :]
    often = Counter(train)
    met = sum(cell in often for cell in test)
    return len(often) * OFTEN <= len(train) and met >= 0.9 * len(test)


def add_parts(name: str, cells: Cells, data: Data) -> bool:
    """Long lists of names: how often each occurs, and the same of its parts, as in B/0/P."""
    for place, part in enumerate([cells, *parts_of(cells)]):
        label = f"{name} part {place}"
        levels = len(set(part))
        numbers = np.array([as_number(cell) for cell in part])
        are_numbers = np.sum(~np.isnan(numbers)) >= 0.95 * sum(map(bool, part))
        if levels < 0.9 * len(part):
            often = Counter(part)
            data.numbers[f"{label} count"] = np.array([often[cell] for cell in part], float)
        if place > 0 and are_numbers and (name != ID or levels <= FEW_LEVELS):
            data.numbers[label] = numbers
        elif not are_numbers and levels <= FEW_LEVELS:
            data.names[label] = np.array(part, dtype=object)
    return True


def find_groups(name: str, cells: Cells, data: Data) -> None:
    """
    Rows that share a value belong together where the rows to predict hardly share any with them,
    which would be a rare chance if all rows had been mixed.
    """
    train, test = cells[: data.rows], cells[data.rows :]
    if name == ID:
        parts = parts_of(cells)
        train, test = (parts[0][: data.rows], parts[0][data.rows :]) if parts else ([], [])
    often, asked = Counter(filter(None, train)), list(filter(None, test))
    shared = sum(times for times in often.values() if times > 1)
    is_new = sum(cell in often for cell in asked) <= 0.05 * len(asked) and len(asked) > 0
    is_coarser = data.groups is None or len(often) < len(np.unique(data.groups))
    if is_new and shared > 0.4 * data.rows and len(often) >= 5 and is_coarser:
        # A row without a value is a group of its own.
        alone = [cell or f"row {row}" for row, cell in enumerate(train)]
        data.groups = np.unique(alone, return_inverse=True)[1]
        print(f"honest folds: rows of one {name} belong together: those to predict have others")


def find_order(name: str, data: Data) -> None:
    """The rows to predict come after all others in a column: the last rows measure best."""
    column = data.numbers.get(name, np.empty(0))
    train, test = column[: data.rows], column[data.rows :]
    if len(test) < 10 or np.isnan(column).any() or len(np.unique(train)) < 5:
        return
    if test.min() > train.max() or test.max() < train.min():
        data.when = column if test.min() > train.max() else -column
        print(f"honest folds: the rows to predict lie beyond the others in {name}")


def read_tables() -> tuple[Columns, Columns]:
    """The rows to learn from that have an answer, and those to predict, as they are written."""
    tables = [(table := read_table(path)) | {ID: ids_in(path, table)} for path in TRAIN]
    if FILE_COLUMN and FILE_COLUMN not in tables[0] and len(TRAIN) > 1:
        for path, table in zip(TRAIN, tables, strict=True):
            table[FILE_COLUMN] = [Path(path).stem] * len(table[ID])
    train = {name: [cell for table in tables for cell in table[name]] for name in tables[0]}
    test = read_table(TEST)
    if ANSWERS:
        answers = read_table(ANSWERS)
        for name in TARGETS:
            if ID not in answers:
                train[name] = answers[name]
                continue
            told = dict(zip(answers[ID], answers[name], strict=True))
            train[name] = [told.get(each, "") for each in train[ID]]
    if TEST_IDS:
        ids = set(read_table(TEST_IDS)[ID])
        train = with_rows(train, [each not in ids for each in train[ID]])
        test = with_rows(test, [each in ids for each in test[ID]])
    train[ROW] = list(map(str, range(len(train[ID]))))
    is_told = bool if CLASSIFIES else is_number
    told = [all(is_told(cleaned(cell)) for cell in row) for row in answers_of(train)]
    return with_rows(train, told), test


def ids_in(path: str, table: Columns) -> list[str]:
    """The ids of a table to learn from; where it has none, numbers that no other one has."""
    start = 10**8 * TRAIN.index(path) if path in TRAIN else 0
    rows = len(next(iter(table.values()), []))
    return table.get(ID) or [str(start + row) for row in range(rows)]


def answers_of(table: Columns) -> list[tuple[str, ...]]:
    return list(zip(*(table[name] for name in TARGETS), strict=True))


def read_clean() -> tuple[Columns, Columns]:
    """The same, with gaps as empty cells."""
    train, test = read_tables()
    return with_gaps(train), with_gaps(test)


def with_gaps(table: Columns) -> Columns:
    return {
        name: cells if name == ID else list(map(cleaned, cells)) for name, cells in table.items()
    }


def read_data(
    kinds: list[Maker],
    join: Joiner | None = None,
    gather: Gatherer | None = None,
) -> Data:
    train, test = read_clean()
    joined = join(train, test) if join is not None else []
    if gather is not None:
        gather(train, test)
    data = as_data(train, test, kinds, joined)
    add_deviations(data)
    return data


def add_deviations(data: Data) -> None:
    """How far numbers are from what is usual for a name, as ovens may have heats of their own."""
    names = {
        name: cells
        for name, cells in data.names.items()
        if 1 < len(np.unique(cells)) <= MOST_USUAL and not name.endswith(BESIDE)
    }
    all_numbers = data.numbers.items() if names else ()
    numbers = {name: cells for name, cells in all_numbers if len(np.unique(cells)) > FEW_VALUES}
    if len(numbers) * len(names) > MOST_DEVIATIONS:
        return
    for name, cells in names.items():
        levels = np.unique(cells, return_inverse=True)[1]
        for number, column in numbers.items():
            known = ~np.isnan(column)
            parts = [column[known & (levels == level)] for level in range(levels.max() + 1)]
            usual = [np.median(part) if len(part) >= LEAST_USUAL else np.nan for part in parts]
            data.numbers[f"{number} beside its {name}"] = column - np.array(usual)[levels]


def as_data(
    train: Columns, test: Columns, kinds: Sequence[Maker], joined: Collection[str] = ()
) -> Data:
    """What the columns of both say, in the way of the first maker that knows each."""
    data = Data(test[ID], *encode(answers_of(train)))
    for name in [name for name in test if name in train and name not in TARGETS]:
        cells = train[name] + test[name]
        if len(set(cells)) < 2:
            continue
        if name not in joined:
            find_groups(name, cells, data)
        if name != ID or DATE.match(cells[0]):
            makers = [*kinds, add_numbers, add_names, add_parts]
            next(make for make in makers if make(name, cells, data))
            if name not in joined:
                find_order(name, data)
        elif re.search(r"\D", "".join(cells[:99])):
            add_parts(name, cells, data)
    return data
