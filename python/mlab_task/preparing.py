"""What a task's `hidden/prepare.py` needs: its folders, and tables in and out."""

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlab_task.tables import column_places

Row = Sequence[object]


@dataclass(frozen=True)
class Folders:
    """The folders of downloads, of what agents will see, and of what only the grader will see."""

    downloads: Path
    public: Path
    private: Path
    variant: str | None = None
    """The variant of the task, by its name in task.yaml; None for the task itself."""


def read_folders() -> Folders:
    """Parses the command line of prepare.py."""
    parser = argparse.ArgumentParser(description="Prepare a task's data.")
    for name in ("downloads", "public", "private"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--variant")
    return Folders(**vars(parser.parse_args()))


def read_table(file: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file, every field as text."""
    with file.open(encoding="utf-8-sig", newline="") as opened:
        header, *rows = csv.reader(opened)
    return header, rows


def write_table(file: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Writes a CSV file: UTF-8, lines ended by a line feed."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_hidden_test(
    folders: Folders,
    header: Sequence[str],
    rows: Sequence[Row],
    id_column: str,
    target: str,
    *,
    test: str = "test.csv",
    labels: str = "labels.csv",
) -> None:
    """Splits test rows: `test` in public/ lacks the target, `labels` in private/ has it by id."""
    identifier, hidden = column_places(header, [id_column, target], "the table of test rows")
    shown = [name for name in header if name != target]
    write_table(
        folders.public / test,
        shown,
        ([value for place, value in enumerate(row) if place != hidden] for row in rows),
    )
    answers = ([row[identifier], row[hidden]] for row in rows)
    write_table(folders.private / labels, [id_column, target], answers)
