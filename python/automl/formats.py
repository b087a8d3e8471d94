"""Tables in files: CSV with any usual separator, TSV, JSON and FASTA, also compressed by gzip."""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

FASTA_ENDINGS = (".fasta", ".fa", ".fna", ".faa")
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", *FASTA_ENDINGS)


def is_table(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(TABLE_ENDINGS)


def rows_of(path: Path) -> Iterator[list[str]]:
    """The names of the columns, then the rows; a row may be too short or too long."""
    csv.field_size_limit(2**24)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    name = path.name.lower().removesuffix(".gz")
    with opened(path, "rt", newline="", encoding="utf-8-sig", errors="replace") as file:
        if name.endswith(".jsonl"):
            yield from rows_of_objects(json.loads(line) for line in file if line.strip())
            return
        if name.endswith(".json"):
            yield from rows_of_objects(iter(json.load(file)))
            return
        if name.endswith(FASTA_ENDINGS):
            yield from rows_of_objects(records_of(file))
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


def records_of(lines: Iterable[str]) -> Iterator[dict[str, object]]:
    """Records of FASTA, `>id name=value …`, with their sequences."""
    record: dict[str, object] = {}
    for line in lines:
        if line.startswith(">"):
            if record:
                yield record
            words = re.split(r"[\s;|]+", line[1:].strip())
            named = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            record = {"id": words[0], **named, "sequence": ""}
        elif record:
            record["sequence"] = f"{record['sequence']}{line.strip()}"
    if record:
        yield record
