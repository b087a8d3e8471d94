"""Made-up answers for tables that the starter's files lack, to show whether a grader works.

A starter that writes its table only when it runs has none in its files.
"""

import contextlib
import csv
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mlab_task.declaration import Column, CsvFile, Declaration
from mlab_task.csv_check import read_ids


@contextlib.contextmanager
def with_stand_ins(folder: Path, declaration: Declaration, public: Path) -> Iterator[Path]:
    """A folder of the same name in which no declared table is missing."""
    missing = [
        file
        for file in declaration.files
        if isinstance(file, CsvFile) and not (folder / file.path).exists()
    ]
    if not missing:
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        complete = Path(place) / folder.name
        shutil.copytree(folder, complete)
        for file in missing:
            _write(complete / file.path, file, read_ids(public, file))
        yield complete


def _write(path: Path, declared: CsvFile, ids: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([declared.id_column, *(column.name for column in declared.columns)])
        for number, identifier in enumerate(ids):
            cells = [_answer(column, number, len(ids)) for column in declared.columns]
            rows.writerow([identifier, *cells])


def _answer(column: Column, number: int, count: int) -> str:
    """Answers differ from row to row: some scores are undefined for equal ones."""
    if column.values:
        return column.values[number % len(column.values)]
    if column.type == "text":
        return "ab"[number % 2]
    lowest, highest = _bounds(column)
    if column.type == "integer":
        return str(int(lowest) + number % (int(highest) - int(lowest) + 1))
    return repr(lowest + (highest - lowest) * (number + 1) / (count + 1))


def _bounds(column: Column) -> tuple[float, float]:
    if column.min is not None:
        return column.min, column.min + 1 if column.max is None else column.max
    return (0.0, 1.0) if column.max is None else (column.max - 1, column.max)
