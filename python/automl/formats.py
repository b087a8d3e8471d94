"""Tables in files: CSV with any usual separator, TSV and JSON lines, also compressed by gzip."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

TABLE_ENDINGS = (".csv", ".tsv", ".jsonl")


def is_table(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(TABLE_ENDINGS)


def rows_of(path: Path) -> Iterator[list[str]]:
    """The names of the columns, then the rows; a row may be too short or too long."""
    csv.field_size_limit(2**24)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8-sig", errors="replace") as file:
        if ".jsonl" in path.name.lower():
            yield from rows_of_objects(json.loads(line) for line in file if line.strip())
            return
        head = file.readline()
        file.seek(0)
        separator = max(",;\t", key=head.count)
        yield from csv.reader(file, delimiter=separator)


def rows_of_objects(objects: Iterator[dict[str, object]]) -> Iterator[list[str]]:
    """The keys of the first object are the columns."""
    names: list[str] = []
    for each in objects:
        if not names:
            names = list(each)
            yield names
        values = (each.get(name) for name in names)
        yield ["" if value is None else str(value) for value in values]
