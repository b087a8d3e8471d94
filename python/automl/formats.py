"""Tables in files: CSV with any usual separator, TSV, JSON, FASTA, SMILES, also gzipped."""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any

from automl.settings import ID

FASTA_ENDINGS = (".fasta", ".fa", ".fna", ".faa")
SMILES_ENDINGS = (".smi", ".smiles")
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", *FASTA_ENDINGS, *SMILES_ENDINGS)
ID_ENDS = r"\s;|"
"""What ends an id in the title of a record of FASTA."""
Columns = dict[str, list[str]]
"""A table: the cells of each column."""
GAPS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif")
FILE_ENDINGS = (".txt", ".md", ".html", *PICTURE_ENDINGS)


def is_table(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(TABLE_ENDINGS)


def rows_of(path: Path) -> Iterator[list[str]]:
    """
    The names of the columns, then the rows; a row may be too short or too long. Of a folder: the
    files in its folders, each of which may be a class.
    """
    if path.is_dir():
        files = [each for each in sorted(path.glob("*/*")) if each.suffix.lower() in FILE_ENDINGS]
        yield ["file", "class"]
        yield from ([each.as_posix(), each.parent.name] for each in files)
        return
    csv.field_size_limit(2**24)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    name = path.name.lower().removesuffix(".gz")
    with opened(path, "rt", newline="", encoding="utf-8-sig", errors="replace") as file:
        if name.endswith(".jsonl"):
            yield from rows_of_objects(json.loads(line) for line in file if line.strip())
        elif name.endswith(".json"):
            yield from rows_of_objects(json.load(file))
        elif name.endswith(FASTA_ENDINGS):
            yield from rows_of_objects(records_of(file))
        elif name.endswith(SMILES_ENDINGS):
            yield from molecules_of(file)
        else:
            head = file.readline()
            file.seek(0)
            delimiter = max(",;\t", key=head.count)
            rows = csv.reader(file, delimiter=delimiter)
            yield [name.strip() for name in next(rows, [])]
            yield from map(with_points, rows) if delimiter == ";" else rows


def with_points(row: list[str]) -> list[str]:
    is_decimal = DECIMAL_COMMA.fullmatch
    return [cell.replace(",", ".") if is_decimal(cell.strip()) else cell for cell in row]


def rows_of_objects(objects: Iterable[dict[str, Any]]) -> Iterator[list[str]]:
    """The keys of the first object are the columns."""
    names: list[str] = []
    for each in objects:
        if not names:
            names = list(each)
            yield names
        values = (each.get(name) for name in names)
        yield ["" if value is None else str(value) for value in values]


def end_ids_at(marks: str) -> None:
    """Reads ids in the titles of FASTA up to one of these."""
    global ID_ENDS
    ID_ENDS = marks


def records_of(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Records of FASTA, `>id name=value …`; ids are called as in the task."""
    for record in re.split(r"^>", "".join(lines), flags=re.MULTILINE)[1:]:
        title, *sequence = record.splitlines()
        first, *words = re.split(f"[{ID_ENDS}]+", title.strip())
        named = dict(word.split("=", 1) for word in words if "=" in word)
        yield {ID: first, **named, "sequence": "".join(map(str.strip, sequence))}


def molecules_of(lines: Iterable[str]) -> Iterator[list[str]]:
    """Notations of molecules, their ids, called as in the task, and perhaps a value; no header."""
    full = [line.rstrip("\r\n") for line in lines if line.strip()]
    rows = [line.split("\t" if "\t" in line else None) for line in full]
    if rows and "smiles" not in rows[0][0].lower():
        rows.insert(0, ["smiles", ID, "value", *map(str, range(len(rows[0])))][: len(rows[0])])
    yield from rows


def cleaned(cell: str) -> str:
    """Without blanks around it; empty if it stands for a gap."""
    cell = cell.strip()
    return "" if cell in GAPS else cell


def read_table(path: str) -> Columns:
    """The cells of each column; rows that are too short or too long are left out."""
    header, *rows = rows_of(Path(path))
    lines = [row for row in rows if len(row) == len(header)]
    return {name: [row[place] for row in lines] for place, name in enumerate(header)}


def tables_in(folder: Path) -> list[Path]:
    """Those with the columns of the first one."""
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and is_table(path)]
    heads = [next(rows_of(path), []) for path in paths]
    return [path for path, head in zip(paths, heads, strict=True) if head == heads[0]]


def read_tables_of(paths: list[str], column: str) -> Columns:
    """
    A table, or those of the same columns in folders as one, with a column of what their files are
    called.
    """
    if not Path(paths[0]).is_dir():
        return read_table(paths[0])
    files = [path for folder in paths for path in tables_in(Path(folder))]
    tables = [read_table(path.as_posix()) for path in files]
    rows = [len(next(iter(table.values()), [])) for table in tables]
    return {
        **{name: [cell for table in tables for cell in table[name]] for name in tables[0]},
        column: [path.stem for path, many in zip(files, rows, strict=True) for _ in range(many)],
    }


def with_rows(table: Columns, kept: list[bool]) -> Columns:
    return {name: list(compress(cells, kept)) for name, cells in table.items()}


def as_number(cell: str) -> float:
    """Not-a-number for anything else."""
    try:
        number = float(cell.replace(",", "") if THOUSANDS.fullmatch(cell) else cell)
    except ValueError:
        return float("nan")
    # Python reads 12_01 as a number; a table does not mean one.
    return float("nan") if "_" in cell or abs(number) == float("inf") else number


def is_number(cell: str) -> bool:
    return as_number(cell) == as_number(cell)
