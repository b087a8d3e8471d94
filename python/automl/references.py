"""What of other tables a column stands for: their rows, their columns, or chemical elements."""

import re

from automl.answers import ID, NAMES, words
from automl.cells import ELEMENTS
from automl.look import Table

LEAST_REFERRED = 10
"""Different values of a column that names rows of another table."""


def find_references(test: Table, tables: list[Table]) -> list[list[str]]:
    """Columns of the rows to predict whose values are unique in a column of another name."""
    found = []
    for name in test.cells.keys() - {ID, *NAMES}:
        asked = set(filter(None, test.cells[name]))
        # Small numbers may be in many columns by chance.
        are_small = all(cell.isdecimal() and len(cell) < 6 for cell in asked)
        if len(asked) < LEAST_REFERRED:
            continue
        for table in [each for each in tables if each.path.is_file()]:
            for key, cells in table.cells.items():
                told = set(cells)
                is_named = bool(words(name) & words(f"{table.path.stem} {key}"))
                is_key = len(told) == table.rows and len(asked & told) >= 0.95 * len(asked)
                if is_key and (is_named or not are_small):
                    found.append([name, key, table.path.as_posix()])
    return sorted(found)


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


def find_symbols(tables: list[Table]) -> list[list[str]]:
    """Columns of chemical elements, each of which is there once, with their tables."""
    return [
        [table.path.as_posix(), name]
        for table in tables
        for name, cells in table.cells.items()
        if len(cells) > 2 and set(cells) <= ELEMENTS and len(set(cells)) == len(cells)
    ]
