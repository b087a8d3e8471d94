"""Reads untrusted CSV text, a line at a time and within fixed limits."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

LONGEST_LINE = 4 * 2**20
# Of all lines of one row: a quoted field may go over several.
LONGEST_ROW = LONGEST_LINE
LONGEST_FIELD = 10**6
MOST_BLANK_LINES = 100_000


class Unreadable(Exception):
    """The file is not CSV text; the message says at which line and why."""


def read_rows(file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number (from 1) and the fields of each row; blank lines are skipped.

    The text is UTF-8 with or without a byte order mark, fields are separated by commas and
    quoted with `"`. Spaces around a field are dropped. Memory stays within one row.
    """
    csv.field_size_limit(LONGEST_FIELD)
    lines = _Lines(file)
    reader = csv.reader(lines, strict=True)
    blank_lines = 0
    while True:
        lines.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Unreadable(f"line {reader.line_num}: {error}") from None
        fields = [field.strip() for field in row]
        if fields in ([], [""]):
            blank_lines += 1
            if blank_lines > MOST_BLANK_LINES:
                raise Unreadable(f"more than {MOST_BLANK_LINES:,} blank lines")
            continue
        yield reader.line_num, fields


class _Lines:
    """The lines of a file as text, as many as a row may take."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        self._row_bytes = 0

    def begin_row(self) -> None:
        self._row_bytes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._row_bytes += len(line)
        if len(line) > LONGEST_LINE:
            raise Unreadable(f"line {self._number} is longer than {LONGEST_LINE:,} bytes")
        if self._row_bytes > LONGEST_ROW:
            raise Unreadable(
                f"the row that ends with line {self._number} is longer than {LONGEST_ROW:,} bytes"
            )
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(f"line {self._number} is not UTF-8 text") from None
        if "\0" in text:
            raise Unreadable(f"line {self._number} holds a NUL byte")
        return text.removeprefix("\ufeff") if self._number == 1 else text


def column_places(header: Sequence[str], names: Iterable[str], table: str) -> list[int]:
    """Positions of columns in a header. Raises ValueError that names the table and its columns."""
    missing = [name for name in names if name not in header]
    if missing:
        absent, there = (", ".join(map(repr, each)) for each in (missing, header))
        raise ValueError(f"{table} has no column {absent}; its columns are {there}")
    return [header.index(name) for name in names]
