"""How a task declares its submission: the `submission` part of task.yaml, as dataclasses."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Column:
    """One column of a CSV submission, besides the id."""

    name: str
    type: str = "number"
    min: float | None = None
    max: float | None = None
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class CsvFile:
    """A table with one row for each id of `id_file`, a CSV file of the public data."""

    path: str
    id_column: str
    id_file: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class PythonFile:
    """A Python module that defines the named functions."""

    path: str
    defines: tuple[str, ...]


@dataclass(frozen=True)
class OtherFile:
    """A file that only the task's grader can read: weights, settings, …"""

    path: str


DeclaredFile = CsvFile | PythonFile | OtherFile


@dataclass(frozen=True)
class Declaration:
    """All files of a submission, and the limit on their total size."""

    files: tuple[DeclaredFile, ...]
    max_bytes: int


def read_declaration(task_file: Path) -> Declaration:
    """Reads the declaration from a JSON file with the keys `metric` and `submission`.

    Raises SystemExit, with a message, if it is no such file, for people who start a grader by hand.
    """
    try:
        submission = json.loads(task_file.read_text(encoding="utf-8"))["submission"]
        return Declaration(
            files=tuple(_file(entry) for entry in submission["files"]),
            max_bytes=int(submission.get("max_mb", 64)) * 2**20,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(
            f"{task_file} is not JSON with the keys metric and submission of task.yaml, "
            f"as mlab tasks show TASK --json prints them ({type(error).__name__}: {error})"
        )


def _file(entry: dict[str, Any]) -> DeclaredFile:
    if entry["format"] == "csv":
        return CsvFile(
            path=entry["path"],
            id_column=entry["id"]["column"],
            id_file=entry["id"]["from"],
            columns=tuple(_column(column) for column in entry["columns"]),
        )
    if entry["format"] == "python":
        return PythonFile(path=entry["path"], defines=tuple(entry["defines"]))
    if entry["format"] == "file":
        return OtherFile(path=entry["path"])
    raise ValueError(f"unknown format {entry['format']!r} of a submission file")


def _column(entry: dict[str, Any]) -> Column:
    values = entry.get("values")
    return Column(
        name=entry["name"],
        type=entry.get("type", "number"),
        min=entry.get("min"),
        max=entry.get("max"),
        values=None if values is None else tuple(values),
    )
