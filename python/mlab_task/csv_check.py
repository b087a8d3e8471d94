"""Checks a CSV submission: returns its rows by id, or everything that is wrong with it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from gzip import GzipFile
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from mlab_task.cells import Fault, Value, read_cell
from mlab_task.declaration import Column, CsvFile
from mlab_task.problems import Problem, Tally, listed, quoted
from mlab_task.tables import Unreadable, column_places, read_rows


@dataclass(frozen=True)
class Table:
    """A valid CSV submission: rows are found by their id, never by their position."""

    ids: tuple[str, ...]
    columns: dict[str, dict[str, Value]]

    def column(self, name: str, ids: Sequence[str] | None = None) -> list[Value]:
        """One column in the order of the given ids, or of the public file that lists them."""
        values = self.columns[name]
        return [values[identifier] for identifier in (self.ids if ids is None else ids)]

    def numbers(self, name: str, ids: Sequence[str] | None = None) -> list[float]:
        """The same for a column of numbers."""
        return [float(value) for value in self.column(name, ids)]


def read_ids(public: Path, declared: CsvFile) -> tuple[str, ...]:
    """All ids that a submission must have, in the order of the public file that lists them."""
    with (public / declared.id_file).open("rb") as file:
        is_compressed = declared.id_file.endswith(".gz")
        rows = read_rows(BufferedReader(GzipFile(fileobj=file)) if is_compressed else file)
        [position] = column_places(next(rows)[1], [declared.id_column], declared.id_file)
        ids = tuple(row[position] for _, row in rows)
    if len(set(ids)) != len(ids):
        raise ValueError(f"{declared.id_file} lists an id twice")
    return ids


def check_csv(file: BinaryIO, declared: CsvFile, ids: tuple[str, ...]) -> Table | list[Problem]:
    """Reads a table whose rows may be in any order."""
    check = _Check(declared, ids)
    try:
        check.read(file)
    except Unreadable as error:
        return [Problem("unreadable", f"{declared.path}: {error}")]
    problems = check.problems()
    return problems or Table(ids, check.values)


class _Check:
    """Reads a file once, in memory proportional to the number of expected ids."""

    def __init__(self, declared: CsvFile, ids: tuple[str, ...]) -> None:
        self.declared = declared
        self.ids = ids
        self.values: dict[str, dict[str, Value]] = {column.name: {} for column in declared.columns}
        self.missing_or_seen = dict.fromkeys(ids, False)
        self.header_problem: str | None = None
        self.ragged = Tally()
        self.duplicates = Tally()
        self.extras = Tally()
        self.faults: dict[tuple[str, Fault], Tally] = {}
        self.stopped_at: int | None = None

    def read(self, file: BinaryIO) -> None:
        rows = read_rows(file)
        first = next(rows, None)
        if first is None:
            raise Unreadable("the file is empty")
        header = first[1]
        self.header_problem = self._judge_header(header)
        if self.header_problem is not None:
            return
        identifier = header.index(self.declared.id_column)
        places = [(column, header.index(column.name)) for column in self.declared.columns]
        most_rows = 2 * len(self.ids) + 1_000
        for count, (line, row) in enumerate(rows):
            if count >= most_rows:
                self.stopped_at = line
                return
            if len(row) != len(header):
                self.ragged.add(f"line {line} has {len(row)}")
            else:
                self._read_row(line, row, row[identifier], places)

    def _judge_header(self, header: list[str]) -> str | None:
        # pandas' to_csv without index=False puts its row numbers into a first column with no name.
        named = header[1:] if header[0] == "" else header
        expected = [self.declared.id_column, *(column.name for column in self.declared.columns)]
        counts = Counter(named)
        missing = [name for name in expected if name not in counts]
        declared = set(expected)
        unknown = [name for name in counts if name not in declared]
        repeated = sorted(name for name in expected if counts[name] > 1)
        parts = []
        if missing:
            parts.append(f"missing {listed(missing)}")
        if unknown:
            parts.append(f"unknown {listed(unknown)}")
        if repeated:
            parts.append(f"given twice {listed(repeated)}")
        if not parts:
            return None
        return f"wrong columns: {'; '.join(parts)}; expected are {', '.join(expected)}"

    def _read_row(
        self, line: int, row: list[str], identifier: str, places: list[tuple[Column, int]]
    ) -> None:
        seen = self.missing_or_seen.get(identifier)
        if seen is None:
            self.extras.add(f"{quoted(identifier)} (line {line})")
            return
        if seen:
            self.duplicates.add(f"{quoted(identifier)} (line {line})")
            return
        self.missing_or_seen[identifier] = True
        for column, place in places:
            value = read_cell(row[place], column)
            if isinstance(value, Fault):
                tally = self.faults.setdefault((column.name, value), Tally())
                tally.add(f"{quoted(row[place])} (line {line})")
            else:
                self.values[column.name][identifier] = value

    def problems(self) -> list[Problem]:
        if self.header_problem is not None:
            return [self._problem("wrong_columns", self.header_problem)]
        found = []
        if self.ragged.count:
            found.append(
                self._problem(
                    "wrong_columns",
                    f"{_rows(self.ragged.count)} not as many fields as the header: "
                    f"{self.ragged.describe()}",
                )
            )
        found += self._id_problems()
        for (column, fault), tally in self.faults.items():
            cells = "1 cell is" if tally.count == 1 else f"{tally.count:,} cells are"
            found.append(
                self._problem(
                    fault.code, f"column {column}: {cells} {fault.summary}: {tally.describe()}"
                )
            )
        return found

    def _id_problems(self) -> list[Problem]:
        found = []
        missing = Tally()
        for identifier, seen in self.missing_or_seen.items():
            if not seen:
                missing.add(quoted(identifier))
        if missing.count and self.stopped_at is None:
            text = f"{missing.count:,} of {len(self.ids):,} ids are missing: {missing.describe()}"
            found.append(self._problem("missing_ids", text))
        if self.duplicates.count:
            text = f"{_rows(self.duplicates.count)} an id that came before: "
            found.append(self._problem("duplicate_ids", text + self.duplicates.describe()))
        if self.extras.count:
            text = f"{_rows(self.extras.count)} an id that is not in {self.declared.id_file}: "
            found.append(self._problem("extra_ids", text + self.extras.describe()))
        if self.stopped_at is not None:
            text = f"far more rows than the {len(self.ids):,} expected; reading stopped at line "
            found.append(self._problem("extra_ids", f"{text}{self.stopped_at:,}"))
        return found

    def _problem(self, code: str, message: str) -> Problem:
        return Problem(code, f"{self.declared.path}: {message}")


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count:,} rows have"
