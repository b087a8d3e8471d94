"""Reads whatever a program could read: tables in files of every kind, and files within files."""

import ast
import base64
import binascii
import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import re
import sqlite3
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from itertools import islice
from pathlib import Path

from python_values import walk, walk_array
from tables import MOST_COLUMNS, MOST_ROWS, Tables, chosen, columns_of, make_table

LARGEST = 512 * 2**20
DEEPEST = 4
MOST_MEMBERS = 5_000

TABLES_ONLY: ContextVar[bool] = ContextVar("tables only", default=False)


class Unread(Exception):
    """No reader can read it."""


def read_file(path: Path, where: str, tables_only: bool = False) -> Tables:
    """All tables in a file. An unreadable file has none and raises Unread.

    :param tables_only: leave out texts and bytes that are not tables but may contain values
    """
    hint = TABLES_ONLY.set(tables_only)
    size = path.stat().st_size
    if size > LARGEST:
        raise Unread(f"{where}: {size >> 20} MB, too large to be read")
    try:
        yield from read_content(path.read_bytes(), where, 0)
    except (OSError, ValueError, EOFError, MemoryError, RecursionError) as error:
        raise Unread(f"{where}: {type(error).__name__}: {error}") from error
    finally:
        TABLES_ONLY.reset(hint)


def read_content(content: bytes, where: str, depth: int) -> Tables:
    if depth > DEEPEST or not content:
        return
    for is_kind, reader in KINDS:
        if is_kind(content):
            yield from reader(content, where, depth)
            return
    text = as_text(content)
    if text is None:
        yield from read_binary(content, where)
    else:
        yield from read_text(text, where, depth)


def as_text(content: bytes) -> str | None:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    if b"\0" in content[:65536]:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        head = content[:4096]
        printable = sum(32 <= byte < 127 or byte in (9, 10, 13) for byte in head)
        return content.decode("latin-1") if printable > 0.7 * len(head) else None


# Texts.


def read_text(text: str, where: str, depth: int) -> Tables:
    start = text.lstrip()[:1]
    if start and start in "[{" and (value := as_json(text)) is not None:
        yield from walk(value, where)
        return
    found = list(read_delimited(text, where))
    yield from found
    if TABLES_ONLY.get():
        return
    if any(table.whole and table.rows > 20 for table in found):
        # A table from the first line to the last: there is nothing between the lines.
        return
    yield from read_literals(text, where)
    yield from read_tokens(text, where)
    yield from read_embedded(text, where, depth)


def as_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in islice(text.splitlines(), MOST_ROWS) if line.strip()]
    except ValueError:
        return None


def read_delimited(text: str, where: str) -> Tables:
    lines = text.splitlines()
    for delimiter in (",", "\t", ";", "|", " "):
        if delimiter not in lines[0] + (lines[1] if len(lines) > 1 else ""):
            continue
        try:
            rows = list(islice(csv.reader(io.StringIO(text), delimiter=delimiter), MOST_ROWS))
        except csv.Error:
            continue
        if delimiter == " ":
            rows = [[field for field in row if field] for row in rows]
        rows = [row for row in rows if row]
        widths = [len(row) for row in rows]
        width = max(set(widths), key=widths.count, default=0)
        if width < 2 or widths.count(width) < 0.9 * len(rows):
            continue
        for table in named(rows, width, where):
            table.whole = widths.count(width) == len(rows)
            yield table
        return
    if len(lines) > 4:
        yield make_table(where, {"line": lines[:MOST_ROWS], "line but the first": ["", *lines[1:]]})


def named(rows: list[list[str]], width: int, where: str) -> Tables:
    """With the first row as names; also as a row of values, if it may be one."""
    header, *rest = rows
    body = [row for row in rest if len(row) == width]
    if len(header) == width and len(set(header)) == width and body:
        yield make_table(where, columns_of(header, body))
    if any(re.search(r"\d", name) for name in header):
        whole = [row for row in rows if len(row) == width]
        yield make_table(f"{where} (without header)", columns_of(range(width), whole))


TOKEN = re.compile(r"[\w.+-]+")


def read_tokens(text: str, where: str) -> Tables:
    """Words of a text in order; and if all lines have equally many, as a table."""
    text = text[: 2**22]
    words = TOKEN.findall(text)[:MOST_ROWS]
    if len(words) > 4:
        yield make_table(f"{where} (words)", {"word": words})
    numbers = [word.strip(".") for word in words if re.fullmatch(r"[+-]?[\d.]+(e-?\d+)?\.?", word)]
    if len(numbers) > 4:
        yield make_table(f"{where} (numbers)", {"number": numbers})
    lines = [TOKEN.findall(line) for line in text.splitlines()]
    for width in {len(line) for line in lines if 2 <= len(line) <= 12}:
        rows = [line for line in lines if len(line) == width]
        if len(rows) > 8:
            yield make_table(
                f"{where} (lines of {width} words)", columns_of(range(1, width + 1), rows)
            )
    pairs = re.findall(r"""["']?([\w./-]+)["']?\s*[:=]\s*["']?([\w.+-]+)""", text)
    if len(pairs) > 8:
        yield make_table(f"{where} (pairs)", columns_of(["key", "value"], pairs))
    for run in re.findall(r"[A-Za-z0-9]{20,}", text)[:50]:
        yield make_table(f"{where} (letters of a word)", {"letter": list(run)})


def read_literals(text: str, where: str) -> Tables:
    """Lists and dictionaries in Python code."""
    if len(text) > 4 * 2**20:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set):
            try:
                yield from walk(ast.literal_eval(node), f"{where} (line {node.lineno})")
            except (ValueError, TypeError, SyntaxError, RecursionError):
                continue


def read_embedded(text: str, where: str, depth: int) -> Tables:
    """Contents in base64 or hexadecimal digits."""
    for blob in re.findall(r"[A-Za-z0-9+/_=\-]{48,}(?:\s+[A-Za-z0-9+/_=\-]{4,})*", text)[:20]:
        packed = re.sub(r"\s+", "", blob)
        decoders: list[Callable[[str], bytes]] = [
            bytes.fromhex,
            lambda packed: base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True),
            lambda packed: base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)),
            base64.b85decode,
        ]
        for decode in decoders:
            try:
                content = decode(packed)
            except (ValueError, binascii.Error):
                continue
            yield from unpacked(content, f"{where} (decoded)", depth)
            break


def unpacked(content: bytes, where: str, depth: int) -> Tables:
    for decompress in (zlib.decompress, lambda content: content):
        try:
            yield from read_content(decompress(content), where, depth + 1)
            return
        except (zlib.error, ValueError, OSError, EOFError, Unread):
            continue


# Files of other kinds.


def read_compressed(decompress: Callable[[bytes], bytes]) -> Callable[[bytes, str, int], Tables]:
    def reader(content: bytes, where: str, depth: int) -> Tables:
        yield from read_content(decompress(content), where, depth + 1)

    return reader


def read_zip(content: bytes, where: str, depth: int) -> Tables:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()[:MOST_MEMBERS]
        yield make_table(
            f"{where} (its members)",
            {
                "name": [member.filename for member in members],
                "size": [member.file_size for member in members],
                "time": [str(member.date_time) for member in members],
                "comment": [member.comment for member in members],
            },
        )
        for member in members[:500]:
            if member.file_size <= LARGEST and not member.is_dir() and not member.flag_bits & 1:
                yield from read_content(
                    archive.read(member), f"{where}/{member.filename}", depth + 1
                )


def read_tar(content: bytes, where: str, depth: int) -> Tables:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = list(islice(archive, MOST_MEMBERS))
        yield make_table(
            f"{where} (its members)",
            {
                "name": [member.name for member in members],
                "size": [member.size for member in members],
                "time": [member.mtime for member in members],
            },
        )
        for member in members[:500]:
            opened = archive.extractfile(member)
            if opened is not None and member.size <= LARGEST:
                yield from read_content(opened.read(), f"{where}/{member.name}", depth + 1)


def read_sqlite(content: bytes, where: str, depth: int) -> Tables:
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(content)
        copy.flush()
        base = sqlite3.connect(copy.name)
        try:
            names = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table','view')")
            for (name,) in names.fetchall():
                quoted = '"' + name.replace('"', '""') + '"'
                found = base.execute(f"SELECT * FROM {quoted} LIMIT {MOST_ROWS}")
                titles = [column[0] for column in found.description]
                rows = found.fetchall()
                if rows:
                    yield make_table(f"{where} table {name}", columns_of(titles, rows))
        finally:
            base.close()


NUMBERS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
NUMBERS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B", "b1": "?"}


def read_npy(content: bytes, where: str, depth: int) -> Tables:
    try:
        import numpy
    except ImportError:
        yield from read_npy_plainly(content, where)
        return
    array = numpy.load(io.BytesIO(content), allow_pickle=True)
    if array.dtype.names:
        yield make_table(where, {name: array[name].ravel().tolist() for name in array.dtype.names})
    elif array.dtype == object:
        yield from walk(array.tolist(), where)
    else:
        yield from walk_array(array, where)


def read_npy_plainly(content: bytes, where: str) -> Tables:
    """An array of numbers, if numpy is not installed."""
    start = 10 if content[6] == 1 else 12
    (length,) = struct.unpack("<H" if start == 10 else "<I", content[8:start])
    header = ast.literal_eval(content[start : start + length].decode())
    kind = NUMBERS.get(str(header["descr"])[1:])
    if kind is None or not header["shape"]:
        raise Unread(f"{where}: an array of {header['descr']}")
    body = content[start + length :]
    size = struct.calcsize(kind)
    order = ">" if str(header["descr"])[0] == ">" else "<"
    values = struct.unpack(f"{order}{len(body) // size}{kind}", body[: len(body) // size * size])
    rows = header["shape"][0]
    width = max(1, len(values) // max(1, rows))
    if not header["fortran_order"]:
        places = chosen(list(range(width)), MOST_COLUMNS)
        yield make_table(where, {f"column {place}": values[place::width] for place in places})


def read_pickle(content: bytes, where: str, depth: int) -> Tables:
    try:
        value = pickle.loads(content)
    except Exception as error:
        yield from read_binary(content, where)
        raise Unread(f"{where}: {type(error).__name__}: {error}") from error
    yield from walk(value, where)


def read_frame(kind: str) -> Callable[[bytes, str, int], Tables]:
    def reader(content: bytes, where: str, depth: int) -> Tables:
        try:
            if kind == "hdf5":
                yield from read_hdf5(content, where)
            else:
                import pandas

                read = pandas.read_parquet if kind == "parquet" else pandas.read_feather
                yield from walk(read(io.BytesIO(content)), where)
        except ImportError as error:
            yield from read_binary(content, where)
            raise Unread(f"{where}: nothing in the environment reads {kind}") from error

    return reader


def read_hdf5(content: bytes, where: str) -> Tables:
    import h5py

    found: list[tuple[str, object]] = []
    with h5py.File(io.BytesIO(content)) as opened:
        opened.visititems(
            lambda name, item: found.append((name, item[()])) if hasattr(item, "shape") else None
        )
    for name, value in found:
        yield from walk(value, f"{where}/{name}")


STRING = re.compile(rb"[\x20-\x7e]{4,}")


def read_image(content: bytes, where: str, depth: int) -> Tables:
    """A picture's metadata belongs to its file: see `places.files_table`."""
    return iter(())


def read_binary(content: bytes, where: str) -> Tables:
    """Bytes, and the numbers that they may represent, in sequence."""
    if TABLES_ONLY.get():
        return
    if len(content) <= 2**20:
        yield make_table(f"{where} (bytes)", {"byte": list(content)})
    if len(content) > 16 * 2**20:
        return
    for name in ("i4", "i8", "f4", "f8"):
        size = struct.calcsize(NUMBERS[name])
        for shift in {0, len(content) % size}:
            body = content[shift : shift + len(content[shift:]) // size * size]
            values = struct.unpack(f"<{len(body) // size}{NUMBERS[name]}", body)
            if 8 < len(values) <= MOST_ROWS:
                yield make_table(f"{where} (as {name})", {"value": values})


def printed_in(content: bytes) -> str:
    """The text in a binary file, from its beginning and its end."""
    ends = content[:4096] + content[-4096:] if len(content) > 8192 else content
    return " ".join(found.decode() for found in STRING.findall(ends))[:600]


def starts(*beginnings: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(beginnings)


KINDS: list[tuple[Callable[[bytes], bool], Callable[[bytes, str, int], Tables]]] = [
    (starts(b"\x1f\x8b"), read_compressed(gzip.decompress)),
    (starts(b"BZh"), read_compressed(bz2.decompress)),
    (starts(b"\xfd7zXZ\0"), read_compressed(lzma.decompress)),
    (starts(b"PK\x03\x04", b"PK\x05\x06"), read_zip),
    (starts(b"SQLite format 3"), read_sqlite),
    (starts(b"\x93NUMPY"), read_npy),
    (starts(b"PAR1"), read_frame("parquet")),
    (starts(b"ARROW1", b"FEA1"), read_frame("feather")),
    (starts(b"\x89HDF"), read_frame("hdf5")),
    (starts(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"RIFF"), read_image),
    (lambda content: content[257:262] == b"ustar", read_tar),
    (lambda content: content[:1] == b"\x80" and content[1:2] in b"\2\3\4\5", read_pickle),
]


def is_data_name(name: str) -> bool:
    """Whether a package's file may contain data, by its name: not code, not a library."""
    ending = os.path.splitext(name)[1].lower()
    if ending in CODE:
        return False
    return ending in DATA or name.lower().endswith((".csv.gz", ".arff.gz", ".json.gz", ".tar.gz"))


CODE = {".py", ".pyc", ".so", ".pyi", ".pyx", ".pxd", ".h", ".c", ".cpp", ".hpp", ".cu", ".cuh"}
DATA = {
    *(".csv", ".tsv", ".json", ".jsonl", ".txt", ".data", ".dat", ".arff", ".xls", ".xlsx"),
    *(".gz", ".bz2", ".xz", ".zip", ".tar", ".npy", ".npz", ".pkl", ".pickle", ".mat", ".bin"),
    *(".parquet", ".feather", ".arrow", ".h5", ".hdf5", ".db", ".sqlite", ".sqlite3"),
    *(".rda", ".sas7bdat", ".dta"),
}
