"""Tables in files: CSV with any usual separator, TSV, JSON, FASTA, SMILES, also gzipped; SQLite."""

import codecs
import csv
import gzip
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from itertools import compress, islice
from pathlib import Path
from typing import Any, TextIO

from automl.settings import ID

FASTA_ENDINGS = (".fasta", ".fa", ".fna", ".faa")
SMILES_ENDINGS = (".smi", ".smiles")
DATABASE_ENDINGS = (".db", ".sqlite", ".sqlite3")
TABLE_ENDINGS = (
    *(".csv", ".tsv", ".jsonl", ".json"),
    *FASTA_ENDINGS,
    *SMILES_ENDINGS,
    *DATABASE_ENDINGS,
)
PLAIN_ENDINGS = (".txt", ".dat", ".tab")
"""Of files that may be tables."""
LINES_TO_JUDGE = 40
BYTES_TO_JUDGE = 1_000_000
Columns = dict[str, list[str]]
"""A table: the cells of each column."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?(?:\s*[^\W\d_]{1,5}\S{0,3}|\s*[%°]\w?)?")
"""Also with a unit."""
NUMBERED = re.compile(r"(.*[^\W\d_])[\W_]*\d+")
"""What files are called by: their class, and a number."""
PLAIN_PICTURE_ENDINGS = (".pgm", ".ppm", ".pnm")
"""Of pictures that need no library."""
PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", *PLAIN_PICTURE_ENDINGS)
RECORDING_ENDINGS = (".npy", ".wav")
FILE_ENDINGS = (".txt", ".md", ".html", *PICTURE_ENDINGS, *RECORDING_ENDINGS)


def is_table(path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz")
    is_known = name.endswith(TABLE_ENDINGS) or path.parent.is_file()
    return is_known or (name.endswith(PLAIN_ENDINGS) and has_columns(path))


@cache
def has_columns(path: Path) -> bool:
    """Whether all of the first lines have as many marks, or blanks, between cells, and some."""
    with opened(path) as file:
        lines = [line for line in islice(file, LINES_TO_JUDGE) if not line.startswith("#")]
    counts = [{line.count(mark) for line in lines} for mark in "\t;"]
    counts.append({len(line.split()) - 1 for line in lines})
    return len(lines) > LINES_TO_JUDGE // 2 and any(len(c) == 1 and c != {0} for c in counts)


def tables_at(path: Path) -> list[Path]:
    """The path of a table; of a database, or JSON with several lists, those of all its tables."""
    name = path.name.lower()
    names: Iterable[str] = ()
    if name.endswith(DATABASE_ENDINGS):
        query = "select name from sqlite_master where type = 'table'"
        names = [name for (name,) in rows_in_database(path, query)][1:]
    elif name.endswith((".json", ".json.gz")):
        with opened(path) as file:
            read = json.load(file)
        names = lists_in(read)
        if isinstance(read, list):
            return [path, *(path / each for each in tables_within(read))]
    elif name.endswith((".jsonl", ".jsonl.gz")):
        with opened(path) as file:
            first = [json.loads(line) for line in islice(file, LINES_TO_JUDGE) if line.strip()]
        return [path, *(path / each for each in tables_within(first))]
    return [path / each for each in names] or [path]


def opened(path: Path) -> TextIO:
    of_kind: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with of_kind(path, "rb") as file:
        # The last letter may be cut.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(file.read(BYTES_TO_JUDGE))
    letters = re.sub(r"[\x00-\x7f]+", "", text)
    encoding = "cp1252" if letters.count("\ufffd") > len(letters) / 2 else "utf-8-sig"
    return of_kind(path, "rt", newline="", encoding=encoding, errors="replace")


def rows_of(path: Path) -> Iterator[list[str]]:
    """
    The names of the columns, then the rows; a row may be too short or too long. Of a folder: the
    files in its folders, each of which may be a class, or its files, which may be called by it.
    """
    if path.is_dir():
        yield ["file", "class"]
        files = [each for each in sorted(path.glob("*/*")) if each.suffix.lower() in FILE_ENDINGS]
        yield from ([each.as_posix(), each.parent.name] for each in files)
        if not files:
            named = ((each, NUMBERED.fullmatch(each.stem)) for each in sorted(path.iterdir()))
            yield from ([each.as_posix(), found[1]] for each, found in named if found)
        return
    within = path.name if path.parent.is_file() else ""
    path = path.parent if within else path
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(DATABASE_ENDINGS):
        yield from rows_in_database(path, f'select * from "{within}"')
        return
    with opened(path) as file:
        if name.endswith(".jsonl"):
            objects = (json.loads(line) for line in file if line.strip())
            yield from rows_of_objects(rows_within(objects, within) if within else objects)
        elif name.endswith(".json"):
            yield from rows_of_objects(objects_in(json.load(file), within))
        elif name.endswith(FASTA_ENDINGS):
            yield from rows_of_objects(records_of(file))
        elif name.endswith(SMILES_ENDINGS):
            yield from molecules_of(file)
        else:
            csv.field_size_limit(2**24)
            delimiter = skip_comments(file)
            rows = csv.reader(file, delimiter=delimiter, skipinitialspace=delimiter == " ")
            yield [name.strip() for name in next(rows, [])]
            yield from map(with_points, rows) if delimiter == ";" else rows


def skip_comments(file: TextIO) -> str:
    """Goes on to the first line that is no comment; returns what separates its cells."""
    place, head, comments = 0, file.readline(), [""]
    while head.startswith("#"):
        comments.append(head)
        place, head = file.tell(), file.readline()
    delimiter = max(",;\t", key=head.count)
    if delimiter not in head:
        words = {len(file.readline().split()) for _ in range(LINES_TO_JUDGE // 2)}
        delimiter = " " if words == {len(head.split())} != {1} else delimiter
    # The last of them may be the header.
    is_header = comments[-1].count(delimiter) == head.count(delimiter) > 0
    file.seek(0 if is_header and len(comments) == 2 else place)
    return delimiter


def rows_in_database(path: Path, query: str) -> Iterator[list[str]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        found = database.execute(query)
        yield [column[0] for column in found.description]
        for row in found:
            yield ["" if cell is None else str(cell) for cell in row]


def with_points(row: list[str]) -> list[str]:
    is_decimal = DECIMAL_COMMA.fullmatch
    return [cell.replace(",", ".") if is_decimal(cell.strip()) else cell for cell in row]


def tables_within(objects: list[Any]) -> list[str]:
    """The names of what is a table of its own in the first of some objects."""
    rows = [each for each in objects[:LINES_TO_JUDGE] if isinstance(each, dict)]
    return list(dict.fromkeys(key for row in rows for key in row if are_rows(row[key])))


def are_rows(value: Any) -> bool:
    """Whether a value is a table of its own: a list of lists or of objects, as of events."""
    return isinstance(value, list) and any(isinstance(each, list | dict) for each in value)


def rows_within(objects: Iterable[dict[str, Any]], within: str) -> Iterator[dict[str, Any]]:
    """The rows that objects hold, each with the id of its object."""
    for each in objects:
        for row in each.get(within) or []:
            cells = (
                {f"{within} {n}": cell for n, cell in enumerate(row)}
                if isinstance(row, list)
                else row
            )
            yield {ID: each.get(ID), **cells}


def rows_of_objects(objects: Iterable[dict[str, Any]]) -> Iterator[list[str]]:
    """All keys are columns, also those of objects in objects."""
    rows = [dict(flat(each)) for each in objects]
    names = list(dict.fromkeys(name for row in rows for name in row))
    yield names
    yield from ([row.get(name, "") for name in names] for row in rows)


def flat(objects: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in objects.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}.")
        elif isinstance(value, list):
            if not are_rows(value):
                yield before + name, " ".join(map(str, value))
        else:
            yield before + name, "" if value is None else str(value)


def lists_in(read: Any) -> dict[str, Any]:
    """Lists of objects that an object has, such as `train` and `test`."""
    return {
        name: value
        for name, value in (read.items() if isinstance(read, dict) else ())
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    }


def objects_in(read: Any, within: str) -> list[dict[str, Any]]:
    """The rows: a list of objects, an object or a value by id, or a list for each column."""
    if within:
        return list(rows_within(read, within)) if isinstance(read, list) else lists_in(read)[within]
    if isinstance(read, dict) and all(isinstance(each, dict) for each in read.values()):
        return [{ID: name, **each} for name, each in read.items()]
    if isinstance(read, dict) and not any(isinstance(each, list | dict) for each in read.values()):
        return [{ID: name, "value": each} for name, each in read.items()]
    if isinstance(read, dict) and all(isinstance(each, list) for each in read.values()):
        return [dict(zip(read, row, strict=True)) for row in zip(*read.values(), strict=True)]
    if isinstance(read, list) and all(isinstance(each, dict) for each in read):
        return read
    raise ValueError("no table")


def records_of(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Records of FASTA, `>id name=value …`; ids are called as in the task."""
    for record in re.split(r"^>", "".join(lines), flags=re.MULTILINE)[1:]:
        title, *sequence = record.splitlines()
        first, *words = re.split(r"[\s;|]+", title.strip())
        named = dict(word.split("=", 1) for word in words if "=" in word)
        yield {ID: first, **named, "sequence": "".join(map(str.strip, sequence))}


def molecules_of(lines: Iterable[str]) -> Iterator[list[str]]:
    """Notations of molecules, their ids, called as in the task, and perhaps a value; no header."""
    full = [line.rstrip("\r\n") for line in lines if line.strip()]
    rows = [line.split("\t" if "\t" in line else None) for line in full]
    if rows and "smiles" not in rows[0][0].lower():
        rows.insert(0, ["smiles", ID, "value", *map(str, range(len(rows[0])))][: len(rows[0])])
    yield from rows


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
    Tables of the same columns, or those of the same columns in folders as one, with a column of
    what their files are called.
    """
    if not Path(paths[0]).is_dir():
        first, *others = map(read_table, paths)
        return {name: [*first[name], *(c for o in others for c in o[name])] for name in first}
    files = [path for folder in paths for path in tables_in(Path(folder))]
    tables = [read_table(path.as_posix()) for path in files]
    rows = [len(next(iter(table.values()), [])) for table in tables]
    return {
        **{name: [cell for table in tables for cell in table[name]] for name in tables[0]},
        column: [path.stem for path, many in zip(files, rows, strict=True) for _ in range(many)],
    }


def with_rows(table: Columns, kept: list[bool]) -> Columns:
    return {name: list(compress(cells, kept)) for name, cells in table.items()}
