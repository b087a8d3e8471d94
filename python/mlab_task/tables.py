"""Reading CSV text that nobody has vouched for, a line at a time and within fixed limits."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

LONGEST_LINE = 4 * 2**20
LONGEST_FIELD = 10**6
MOST_BLANK_LINES = 100_000


class Unreadable(Exception):
    """The file is no CSV text; the message says at which line and why."""


def read_rows(file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number (from 1) and the fields of each row; blank lines are skipped.

    The text is UTF-8 with or without a byte order mark, fields are separated by commas and
    quoted with `"`. Spaces around a field are dropped. Memory stays within one row.
    """
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(_lines(file), strict=True)
    blank_lines = 0
    while True:
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


def _lines(file: BinaryIO) -> Iterator[str]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise Unreadable(f"line {number} is longer than {LONGEST_LINE:,} bytes")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(f"line {number} is not UTF-8 text") from None
        if "\0" in text:
            raise Unreadable(f"line {number} holds a NUL byte")
        yield text.removeprefix("\ufeff") if number == 1 else text


def column_places(header: Sequence[str], names: Iterable[str], table: str) -> list[int]:
    """Where columns stand in a header. Raises ValueError that names the table and what it has."""
    missing = [name for name in names if name not in header]
    if missing:
        absent, there = (", ".join(map(repr, each)) for each in (missing, header))
        raise ValueError(f"{table} has no column {absent}; its columns are {there}")
    return [header.index(name) for name in names]
