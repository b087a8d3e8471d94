"""What of the data folder is to be learned from: the largest source that has the answers."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

from automl.formats import rows_of
from automl.look import (
    PICTURE_ENDINGS,
    Array,
    Column,
    NamedFiles,
    Table,
    describe,
    files_named_in,
    find_arrays,
    find_classes,
    head_of,
    kind_of,
    read_head,
)

MOST_ROWS_JOINED = 500_000
"""Reading larger tables would take most of the time."""
LABEL_NAME = re.compile(r"label|target|class|(?:^|[/_])y(?:[_.]|$)", re.IGNORECASE)


@dataclass
class Answers:
    columns: list[Column]
    by_class: bool = False
    """The submission has a column for each value of the only column."""


@dataclass
class Source:
    kind: str
    """`table`, `arrays` or `files`."""
    place: str
    """For people."""
    settings: dict[str, Any]
    """Where the script that learns finds everything."""
    rows: int
    answers: Answers
    columns: Counter[str] = field(default_factory=Counter)
    """How many columns of a table are of each kind."""
    is_wide: bool = False
    """A row is hundreds of numbers."""
    are_pictures: bool = False


@dataclass
class Asked:
    """What the task asks for."""

    test: Table
    """The rows to predict."""
    id: str
    names: list[str]
    """The other columns of the submission."""

    def shared(self, table: Table) -> list[str]:
        known = [name for name in self.test.cells if name not in (self.id, *self.names)]
        return [name for name in table.cells if name in known]

    def more(self, table: Table) -> list[Column]:
        """What a table has and the rows to predict lack."""
        cells = {name: each for name, each in table.cells.items() if name not in self.test.cells}
        return [describe(*each) for each in cells.items()]


def find_source(asked: Asked, tables: list[Table]) -> Source | None:
    named = next(iter(files_named_in(asked.test)), None)
    return (
        find_table(asked, tables, named is not None)
        or (named and (find_listed(asked, tables, named) or find_foldered(asked, named)))
        or find_pair(asked, tables)
    )


def answers_in(columns: list[Column], asked: Asked) -> Answers | None:
    """The targets, as columns of the same names or as classes named like the columns."""
    known = {column.name: column for column in columns}
    if all(name in known for name in asked.names):
        return Answers([known[name] for name in asked.names])
    classes = [column for column in columns if classes_of(asked.names, column.values)]
    return Answers(classes, by_class=True) if len(classes) == 1 else None


def renamed_answers_in(columns: list[Column], asked: Asked) -> Answers | None:
    """
    The columns that the rows to predict lack, whatever they are called in the submission: the only
    one, or as many as are asked for, each of which shares a word with one of those.
    """
    if len(columns) != len(asked.names):
        return None
    found = columns
    if len(columns) > 1:
        alike = [[each for each in columns if words(each.name) & words(n)] for n in asked.names]
        found = [same[0] for same in alike if len(same) == 1]
    is_whole = len({column.name for column in found}) == len(columns)
    return Answers(found) if is_whole else None


def words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


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


def find_table(asked: Asked, tables: list[Table], names_files: bool) -> Source | None:
    sharing = [table for table in tables if asked.shared(table)]
    if names_files:
        # The path of a file has no information by itself.
        sharing = [each for each in sharing if kinds_of(asked, each).keys() & {"text", "number"}]
    sharing.sort(key=lambda table: -table.rows)
    for find in (answers_in, renamed_answers_in):
        for table in sharing:
            answers = find(asked.more(table), asked)
            if answers:
                return table_source(asked, tables, table, None, answers)
    # The answers may be in a separate table.
    for table in sharing:
        for other in tables:
            if asked.id in table.cells and asked.id in other.cells and not asked.shared(other):
                answers = answers_in(asked.more(other), asked)
                if answers:
                    return table_source(asked, tables, table, other, answers)
    return None


def kinds_of(asked: Asked, table: Table) -> Counter[str]:
    return Counter(kind_of(table.cells[name]) for name in asked.shared(table))


def table_source(
    asked: Asked, tables: list[Table], train: Table, told: Table | None, answers: Answers
) -> Source:
    columns = kinds_of(asked, train)
    listed = ", ".join(f"{count} of {kind}s" for kind, count in sorted(columns.items()))
    joined = [
        table.path.as_posix()
        for table in tables
        if table not in (train, told) and can_be_joined(asked, table)
    ]
    settings: dict[str, Any] = {"TRAIN": train.path.as_posix()}
    if told:
        settings["ANSWERS"] = told.path.as_posix()
    if joined:
        settings["JOINED"] = joined
    place = f"{train.path.as_posix()} (columns: {listed})"
    wide = columns["number"] > 300
    return Source("table", place, settings, train.rows, answers, columns, is_wide=wide)


def can_be_joined(asked: Asked, table: Table) -> bool:
    """It shares columns, or ids, with the rows to predict, and has other columns besides."""
    has_more = any(name not in (*asked.test.cells, *asked.names) for name in table.cells)
    has_key = asked.id in table.cells or bool(asked.shared(table))
    return has_more and has_key and table.rows <= MOST_ROWS_JOINED


def find_listed(asked: Asked, tables: list[Table], named: NamedFiles) -> Source | None:
    """A table with the answers that lists files like those to predict."""
    for table in tables:
        kind = (named.suffix, named.ending)
        same = [each for each in files_named_in(table) if (each.suffix, each.ending) == kind]
        answers = answers_in(asked.more(table), asked) if same else None
        if answers:
            lists = (table.path.as_posix(), same[0].column)
            return file_source(named, same[0].folder, lists, table.rows, answers)
    return None


def find_foldered(asked: Asked, named: NamedFiles) -> Source | None:
    """A folder for each class."""
    fitting = [
        each
        for each in find_classes()
        if each.ending == named.ending and each.folder != named.folder
    ]
    if not fitting:
        return None
    largest = max(fitting, key=lambda each: each.files)
    by_class = bool(classes_of(asked.names, largest.names))
    if not by_class and len(asked.names) > 1:
        return None
    column = Column(asked.names[0], False, len(largest.names), largest.names)
    answers = Answers([column], by_class)
    return file_source(named, largest.folder, ("", ""), largest.files, answers)


def file_source(
    named: NamedFiles, folder: str, lists: tuple[str, str], rows: int, answers: Answers
) -> Source:
    table, column = lists
    settings = {
        "TRAIN_TABLE": table,
        "TRAIN_FOLDER": folder,
        "TRAIN_COLUMN": column,
        "TEST_FOLDER": named.folder,
        "TEST_COLUMN": named.column,
        "SUFFIX": named.suffix,
        "ENDING": named.ending,
    }
    are_pictures = named.ending in PICTURE_ENDINGS
    shape = {"is_wide": are_pictures, "are_pictures": are_pictures}
    return Source("files", f"{folder} (files *{named.ending})", settings, rows, answers, **shape)


def find_pair(asked: Asked, tables: list[Table]) -> Source | None:
    """
    Two arrays whose rows have the same shape, with labels for the rows of one and ids for those of
    the other.
    """
    arrays = find_arrays()
    ids = asked.test.cells[asked.id]
    are_places = bool(ids) and all(map(str.isdecimal, ids))
    highest = max(map(int, ids)) if are_places else -1

    def worth(pair: tuple[Array, Array]) -> float:
        """Names are only hints."""
        train, test = ((each.path + each.key).lower() for each in pair)
        hints = ["train" in train, "test" in test, "test" not in train]
        return sum(hints) + (pair[0].shape[0] > pair[1].shape[0]) / 2

    pairs = [
        (train, test)
        for train in arrays
        for test in arrays
        if train is not test
        and len(train.shape) > 1
        and train.kind == test.kind != "U"
        and train.shape[1:] == test.shape[1:]
        and (test.shape[0] == asked.test.rows or 0 <= highest < test.shape[0])
    ]
    for train, test in sorted(pairs, key=worth, reverse=True):
        found = find_labels(asked, tables, arrays, train)
        if found is None:
            continue
        place, answers = found
        settings = {
            "TRAIN_ARRAY": [train.path, train.key],
            "TEST_ARRAY": [test.path, test.key],
            "LABELS": place,
            "BY_PLACE": 0 <= highest < test.shape[0],
        }
        row = train.shape[1:]
        shape = {"is_wide": prod(row) > 300, "are_pictures": is_picture(row)}
        name = f"{train.path} {train.key}".strip()
        name += f" (each {' x '.join(map(str, row))})"
        return Source("arrays", name, settings, train.shape[0], answers, **shape)
    return None


def find_labels(
    asked: Asked, tables: list[Table], arrays: list[Array], train: Array
) -> tuple[list[str], Answers] | None:
    """An array, or a table in the same order."""
    for table in tables:
        answers = answers_in(asked.more(table), asked) if table.rows == train.shape[0] else None
        if answers:
            return [table.path.as_posix(), ""], answers
    fitting = [
        array
        for array in arrays
        if array is not train and array.shape[0] == train.shape[0] and len(array.shape) <= 2
    ]
    for array in sorted(fitting, key=lambda each: not LABEL_NAME.search(f"{each.path}/{each.key}")):
        width = prod(array.shape[1:])
        by_class = width == 1 and bool(classes_of(asked.names, array.values))
        if by_class or (width == len(asked.names) and array.shape[1:] != train.shape[1:]):
            numeric = array.kind not in "Ub"
            about = {"numeric": numeric, "distinct": len(array.values), "values": array.values}
            names = asked.names[:1] if by_class else asked.names
            columns = [Column(name, **about) for name in names]
            return [array.path, array.key], Answers(columns, by_class)
    return None


def is_picture(row: list[int]) -> bool:
    """Height, width and up to four channels, which come first or last."""
    if len(row) == 2:
        return row[0] == row[1] >= 6
    ways = (row, row[::-1]) if len(row) == 3 else ()
    return any(channels <= 4 and min(sides) >= 6 for channels, *sides in ways)


def rows_to_predict(test: Path, id_column: str, wanted: list[str], tables: list[Table]) -> Table:
    """The table of ids, or, if it has nothing else, the table with the rows of these ids."""
    asked = without_targets(read_head(test), wanted)
    if list(asked.cells) != [id_column]:
        return asked
    ids = ids_of(asked, id_column)
    for table in [without_targets(table, wanted) for table in tables]:
        has_more = id_column in table.cells and len(table.cells) > 1
        if has_more and table.path != test and ids_of(table, id_column) == ids:
            return table
    return asked


def split_by_ids(
    test: Path, id_column: str, wanted: list[str], tables: list[Table]
) -> tuple[Table, list[Table]] | None:
    """The rows of these ids, from the largest table that has them among others; and the others."""
    ids = ids_of(read_head(test), id_column)
    asked = set(ids)
    for table in sorted(tables, key=lambda table: -table.rows):
        if id_column not in table.cells or table.rows <= len(ids):
            continue
        if [each for each in ids_of(table, id_column) if each in asked] == ids:
            names, *rows = rows_of(table.path)
            place = names.index(id_column)
            parts = [
                [row for row in rows if (place < len(row) and row[place] in asked) == is_asked]
                for is_asked in (True, False)
            ]
            mine, rest = (head_of(table.path, names, iter(part)) for part in parts)
            others = [rest if each is table else each for each in tables]
            return without_targets(mine, wanted), others
    return None


def without_targets(table: Table, wanted: list[str]) -> Table:
    """What is to be predicted may be there, empty or as a placeholder."""
    known = {name: cells for name, cells in table.cells.items() if name not in wanted}
    return replace(table, cells=known)


def ids_of(table: Table, id_column: str) -> list[str]:
    """All of them, sorted."""
    names, *rows = rows_of(table.path)
    place = names.index(id_column)
    return sorted(row[place] for row in rows if place < len(row))
