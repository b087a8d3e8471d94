"""Where rows have no ids, only their order and their values can show which belong together."""

import contextlib
import random
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "leaks"))

from find_leaks import Search

Rows = list[list]


class Place:
    """A task whose submission has no table: nothing names the rows of its private data."""

    def __init__(self, root: Path) -> None:
        self.root, self.draw = root, random.Random(3)
        for name in ("data", "private", "starter", "packages"):
            (root / name).mkdir()

    def write(self, name: str, header: list[str], rows: Rows) -> None:
        lines = [",".join(map(str, row)) for row in [header, *rows]]
        (self.root / name).write_text("\n".join(lines))

    def write_database(self, name: str, table: str, header: list[str], rows: Rows) -> None:
        with contextlib.closing(sqlite3.connect(self.root / name)) as base:
            base.execute(f"CREATE TABLE {table} ({', '.join(header)})")
            base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(header))})", rows)
            base.commit()

    def search(self) -> Search:
        folders = {name: str(self.root / name) for name in ("data", "private", "starter")}
        search = Search(
            {
                **folders,
                "packages": str(self.root / "packages"),
                **{"id": None, "targets": [], "seconds": 60},
            }
        )
        search.run()
        return search


class WithoutIds(unittest.TestCase):
    def place(self) -> Place:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Place(Path(folder.name))

    def found(self, place: Place) -> set[tuple[str, str, str]]:
        return {(leak.column, leak.hidden, leak.relation) for leak in place.search().leaks}


OTHERS = "other values that determine them"


def borrowed(draw: random.Random, readers: int) -> Rows:
    """Which reader borrows which books: sorted by the reader."""
    return [
        [500 + reader, 10_000 + draw.randrange(300)]
        for reader in range(readers)
        for _ in range(draw.randint(1, 5))
    ]


class SortedRowsTest(WithoutIds):
    def test_sorted_columns_of_different_things_are_no_leak(self) -> None:
        for readers in (150, 700):
            for days in (90, 5_000):
                with self.subTest(readers=readers, days=days):
                    place = self.place()
                    rows = borrowed(place.draw, readers)
                    place.write("private/borrowed.csv", ["reader_id", "book_id"], rows)
                    loans = sorted(place.draw.randrange(days) for _ in range(len(rows) + 900))
                    columns = [[day, place.draw.randrange(9)] for day in loans]
                    place.write_database("data/library.sqlite", "loan", ["day", "desk"], columns)
                    self.assertEqual(self.found(place), set())

    def test_nor_are_nearly_sorted_ones(self) -> None:
        place = self.place()
        draw = place.draw
        hidden = [10 * (at // 10) + draw.randrange(12) for at in range(800)]
        place.write("private/labels.csv", ["value", "note"], [[value, ""] for value in hidden])
        coarse = [[at // 37, -(at // 23), at + draw.gauss(0, 9)] for at in range(800)]
        place.write("data/log.csv", ["week", "left", "time"], coarse)
        self.assertEqual(self.found(place), set())

    def test_nor_are_groups_of_rows_with_the_names_of_other_groups(self) -> None:
        place = self.place()
        draw = place.draw
        shelves = [f"s{draw.randrange(10**6)}" for _ in range(8)]
        hidden = [[shelf, ""] for shelf in shelves for _ in range(draw.randint(80, 120))]
        place.write("private/shelves.csv", ["shelf", "note"], hidden)
        groups = [[f"g{draw.randrange(10**6)}"] * draw.randint(3, 9) for _ in range(300)]
        names = [name for group in groups for name in group][: len(hidden)]
        place.write("data/groups.csv", ["group", "x"], [[name, draw.random()] for name in names])
        self.assertEqual(self.found(place), set())

    def test_the_same_sorted_values_are_a_leak(self) -> None:
        place = self.place()
        rows = borrowed(place.draw, 400)
        place.write("private/borrowed.csv", ["reader_id", "book_id"], rows)
        shown = [[reader, place.draw.random()] for reader, _ in rows]
        place.write("data/loans.csv", ["reader", "x"], shown)
        self.assertIn(("reader", "reader_id", "the same values"), self.found(place))

    def test_other_values_in_an_order_of_their_own_are_a_leak(self) -> None:
        place = self.place()
        rows = borrowed(place.draw, 400)
        place.write("private/borrowed.csv", ["reader_id", "book_id"], rows)
        shown = [[at, 7 - 0.5 * book] for at, (_, book) in enumerate(rows)]
        place.write("data/loans.csv", ["number", "code"], shown)
        self.assertEqual(self.found(place), {("code", "book_id", OTHERS)})

    def test_exceptions_from_a_sorted_order_show_a_leak(self) -> None:
        place = self.place()
        hidden = [at // 2 + place.draw.randrange(60) for at in range(600)]
        place.write("private/labels.csv", ["value", "note"], [[value, ""] for value in hidden])
        place.write("data/codes.csv", ["n", "code"], [[n, 1 - 2 * v] for n, v in enumerate(hidden)])
        self.assertEqual(self.found(place), {("code", "value", OTHERS)})


if __name__ == "__main__":
    unittest.main()
