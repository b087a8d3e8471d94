"""What of other tables a column stands for: their rows, their columns, or chemical elements."""

import re
from collections.abc import Iterable
from itertools import product

from automl.answers import ID, NAMES, words
from automl.look import Table
from automl.moments import days_of

LEAST_REFERRED = 10
"""Different values of a column that names rows of another table."""


def find_references(test: Table, tables: list[Table]) -> list[list[str]]:
    """
    Columns of the rows to predict whose values, or the days of these, are unique in a column of
    another name.
    """
    keys = [
        (table, key, [each for each in (cells, days_of(cells)) if len(set(each)) == table.rows])
        for table in tables
        if not table.path.is_dir()
        for key, cells in table.cells.items()
    ]
    found = []
    for name in test.cells.keys() - {ID, *NAMES}:
        asked = list(filter(None, test.cells[name]))
        days = days_of(asked)
        for table, key, ways in keys:
            is_key = any(are_among(each, told) for told in ways for each in (asked, days))
            # Small numbers may be in many columns by chance.
            is_named = bool(words(name) & words(f"{table.path.stem} {key}"))
            if is_key and (is_named or not are_small(asked)):
                found.append([name, key, table.path.as_posix()])
    return sorted(found)


def are_among(cells: list[str], told: Iterable[str]) -> bool:
    """Whether nearly all of enough different cells are."""
    asked = set(cells)
    return len(asked) >= LEAST_REFERRED and len(asked & set(told)) >= 0.95 * len(asked)


def are_small(cells: list[str]) -> bool:
    return all(cell.isdecimal() and len(cell) < 6 for cell in cells)


def find_renamed(listed: Table, tables: list[Table]) -> list[list[str]]:
    """
    Columns of other tables that have the ids by another name, or several rows each for values of
    another column of the rows to predict: the table, this name, and that of the column.
    """
    by_id = [listed, *(each for each in tables if ID in each.cells)]
    stems = " ".join([ID, *(table.path.stem for table in by_id)])
    known_by_id = {name for table in by_id for name in table.cells} - {*NAMES}
    columns = {
        column: {cell for table in by_id for cell in table.cells.get(column, []) if cell}
        for column in sorted(known_by_id, key=lambda each: (each != ID, each))
    }
    asked = {column: set(listed.cells.get(column, told)) for column, told in columns.items()}
    found = []
    for table in [each for each in tables if ID not in each.cells and not each.path.is_dir()]:
        more = [column for column in columns if column not in table.cells]
        new = {n: list(filter(None, cells)) for n, cells in table.cells.items() if n not in columns}
        for column, name in product(more, new):
            known, told = new[name], columns[column]
            # Most columns have nothing in common, which the first cells show.
            if sum(cell in told for cell in known[:99]) < 0.9 * len(known[:99]):
                continue
            alike = product(words(stems if column == ID else column), words(name))
            is_named = any(a.startswith(b) or b.startswith(a) for a, b in alike)
            is_met = 2 * len(asked[column].intersection(known)) > len(asked[column])
            is_one = column != ID and len(set(known)) == len(known)
            is_key = is_named or not are_small(known)
            if is_key and is_met and not is_one and are_among(known, told):
                found.append([table.path.as_posix(), name, column])
                break
    return found


def referred_columns(references: list[list[str]], tables: list[Table]) -> list[str]:
    """What the columns of tables that are referred to are called beside the others."""
    return [
        f"{name} {column}"
        for name, _, path in references
        for table in tables
        if table.path.as_posix() == path
        for column in table.cells
    ]


def column_like(cells: list[str], table: Table) -> str:
    """The column that has most of these values, or else values that are written like them."""
    asked = set(cells)
    for name, told in table.cells.items():
        if len(asked & set(told)) >= 0.9 * len(asked):
            return name
    ways = {re.sub(r"\d", "0", cell) for cell in asked}
    return next(
        (
            name
            for name, told in table.cells.items()
            if name not in NAMES and {re.sub(r"\d", "0", cell) for cell in told[:200]} == ways
        ),
        "",
    )
