"""What the data folder holds: tables, arrays, and files with a text or a picture each."""

import csv
import json
import sqlite3
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from automl.cells import cleaned, is_number, numbers_in
from automl.formats import (
    FILE_ENDINGS,
    Columns,
    is_table,
    read_table,
    read_tables_of,
    rows_of,
    tables_at,
    tables_in,
)

PACKAGES = ("numpy", "scipy", "sklearn", "PIL", "rdkit")
MOST_TABLES = 12
LEAST_TABLES = 3
"""Of the same columns in a folder: they are read as one."""
MOST_ROWS = 20_000
MOST_VALUES = 200
MOST_ARRAYS = 24
MOST_FOLDERS = 400
MOST_NUMBERS = 50_000_000
UNREADABLE = (OSError, ValueError, AttributeError, TypeError, csv.Error, sqlite3.Error)


@dataclass
class Table:
    path: Path
    rows: int
    cells: Columns
    """The first rows."""
    file_column: str = ""
    """Of folders of tables: the column of what their files are called."""
    folders: list[Path] = field(default_factory=list)
    """All of them, the first of which is the path."""


@dataclass
class Column:
    """What may have to be predicted."""

    name: str
    numeric: bool
    distinct: int
    values: list[str]
    """All of them, where they are few."""


@dataclass
class Array:
    path: str
    key: str
    """The name in an archive; empty for a file of one array."""
    shape: list[int]
    kind: str
    """numpy's letter: i, u, f, b or U."""
    least: int | None
    """Of whole numbers."""
    most: int | None
    values: list[str]
    """Of a row of whole numbers or texts, where they are few."""


@dataclass
class NamedFiles:
    """Files that the cells of a column name."""

    column: str
    folder: str
    suffix: str
    """What the cells lack to be names of files."""
    ending: str


def packages() -> list[str]:
    return [name for name in PACKAGES if find_spec(name) is not None]


def read_head(path: Path) -> Table:
    rows = rows_of(path)
    header = next(rows, [])
    first = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    cells = {
        name: [cleaned(row[place]) for row in first if place < len(row)]
        for place, name in enumerate(header)
    }
    return Table(path, len(first) + sum(1 for _ in rows), cells)


def find_tables() -> list[Table]:
    """Those in the folder itself first, and large ones before small ones."""
    paths = [path for path in sorted(Path("data").rglob("*")) if path.is_file() and is_table(path)]
    paths.sort(key=lambda path: (len(path.parts), -path.stat().st_size))
    folders = defaultdict[tuple[str, ...], list[Path]](list)
    together = set[Path]()
    for folder in folders_of_data():
        with suppress(*UNREADABLE):
            parts = tables_in(folder)
            if len(parts) >= LEAST_TABLES:
                folders[tuple(next(rows_of(parts[0])))].append(folder)
                together.update(parts)
    found = []
    for path in [path for path in paths if path not in together][:MOST_TABLES]:
        # It may be no table in spite of its name.
        with suppress(*UNREADABLE):
            found += [read_head(each) for each in tables_at(path)]
    for same in folders.values():
        with suppress(*UNREADABLE):
            cells = read_tables_of([folder.as_posix() for folder in same], "file")
            found.append(Table(same[0], len(cells["file"]), cells, "file", same))
    return sorted(found, key=lambda table: len(table.path.parts))


def describe(name: str, cells: list[str]) -> Column:
    """A few cells among numbers that are none, such as ?, are gaps."""
    told = [cell for cell in cells if cell]
    known = set(told)
    is_numeric = bool(told) and sum(map(is_number, told)) >= 0.95 * len(told)
    values = sorted(known) if len(known) <= MOST_VALUES else []
    return Column(name, is_numeric, len(known), values)


def kind_of(cells: list[str]) -> str:
    """How a column is likely to be used: `list`, `text`, `letters`, `number` or `name`."""
    known = [cell for cell in cells if cell]
    if known and all(map(numbers_in, known[:MOST_VALUES])):
        return "list"
    if sum(map(is_number, known)) >= 0.3 * len(known):
        return "number"
    words = sum(len(cell.split()) for cell in known)
    is_varied = len(set(known)) > len(known) / 2
    if is_varied and words >= 2.5 * len(known):
        return "text"
    letters = sum(map(len, known))
    single = sum(" " not in cell for cell in known)
    # Some people put blanks into long sequences.
    are_long = letters >= 15 * len(known) and single >= 0.75 * len(known)
    is_long = are_long or (letters >= 5 * len(known) and words <= 1.05 * len(known))
    return "letters" if is_long and is_varied else "name"


def folders_of_data() -> list[Path]:
    return sorted(path for path in Path("data").rglob("*") if path.is_dir())[:MOST_FOLDERS]


def folders_of_classes() -> list[Table]:
    """Tables of the files in folders that may be classes, the largest first."""
    tables = []
    for folder in folders_of_data():
        cells = read_table(folder.as_posix())
        if len(set(cells["class"])) > 1:
            tables.append(Table(folder, len(cells["class"]), cells))
    return sorted(tables, key=lambda table: -table.rows)


def files_named_in(table: Table) -> list[NamedFiles]:
    found = (files_of(name, cells[:20], table.path) for name, cells in table.cells.items())
    return [each for each in found if each is not None]


def is_of_kind(path: str) -> bool:
    return path.lower().endswith(FILE_ENDINGS)


def files_of(name: str, cells: list[str], table: Path) -> NamedFiles | None:
    if not cells or any(cell == "" or len(cell) > 200 for cell in cells):
        return None
    for folder in [Path(), table.parent, *folders_of_data()]:
        own = Path(folder, cells[0])
        # A folder for each may hold a file of the same name.
        beneath = [f"/{path.name}" for path in sorted(own.iterdir())] if own.is_dir() else []
        for suffix in ("", *FILE_ENDINGS, *(each for each in beneath if is_of_kind(each))):
            if all(Path(folder, cell + suffix).is_file() for cell in cells):
                ending = Path(cells[0] + suffix).suffix.lower()
                found = NamedFiles(name, folder.as_posix(), suffix, ending)
                return found if is_of_kind(ending) else None
    return None


@cache
def find_arrays() -> list[Array]:
    found: list[Array] = []
    paths = sorted([*Path("data").rglob("*.npy"), *Path("data").rglob("*.npz")])
    for path in paths[:MOST_ARRAYS]:
        # Objects that only Python itself can read are none of our business.
        with suppress(OSError, ValueError):
            found += look_at_arrays(path)
    return found


def look_at_arrays(path: Path) -> list[Array]:
    import numpy as np

    read = np.load(path, allow_pickle=False, mmap_mode="r")
    named = {key: read[key] for key in read.files} if path.suffix == ".npz" else {"": read}
    found = []
    for key, array in named.items():
        kind = array.dtype.kind
        if array.ndim == 0 or kind not in "iufbU":
            continue
        ends: list[int | None] = [None, None]
        if kind in "iu" and 0 < array.size <= MOST_NUMBERS:
            ends = [int(array.min()), int(array.max())]
        is_row = array.ndim == 1 and kind in "iubU"
        values = [str(value) for value in np.unique(array).tolist()[:MOST_VALUES]] if is_row else []
        found.append(Array(path.as_posix(), key, list(array.shape), kind, *ends, values))
    return found


def print_arrays() -> None:
    there = packages()
    arrays = [asdict(each) for each in find_arrays()] if "numpy" in there else []
    sys.stdout.write(f"ARRAYS {json.dumps({'packages': there, 'arrays': arrays})}\n")
