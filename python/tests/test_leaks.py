"""The search finds hidden values however they are stored, and nothing if nothing leaks."""

import base64
import contextlib
import csv
import gzip
import io
import json
import math
import os
import pickle
import random
import sqlite3
import sys
import tarfile
import tempfile
import unittest
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "leaks"))

from find_leaks import Search

ROWS, TRAINED = 160, 200
CLASSES = ["cat", "dog", "owl", "pig"]


class Place:
    """A task's folders, with nothing leaking: rows in random order, ids that reveal nothing."""

    def __init__(self, root: Path, kind: str) -> None:
        self.data, self.private = root / "data", root / "private"
        self.starter, self.packages = root / "starter", root / "packages"
        for folder in (self.data, self.private, self.starter, self.packages):
            folder.mkdir()
        draw = random.Random(1)
        self.draw = draw
        self.ids = [f"{number:04d}" for number in draw.sample(range(10_000), ROWS)]
        self.features = [self.point() for _ in range(ROWS)]
        self.labels: list = [self.answer(kind, point) for point in self.features]
        shown = [self.point() for _ in range(TRAINED)]
        rows = [[f"t{at}", *point, self.answer(kind, point)] for at, point in enumerate(shown)]
        self.write("train.csv", ["id", "x", "y", "z", "label"], rows)
        self.write_test([])
        labels = [list(pair) for pair in zip(self.ids, self.labels, strict=True)]
        self.table(self.private / "labels.csv", ["id", "label"], labels)

    def point(self) -> list[float]:
        return [round(self.draw.gauss(0, 1), 4) for _ in range(3)]

    def answer(self, kind: str, point: list[float]) -> str | float:
        if kind == "class":
            return CLASSES[(point[0] + self.draw.gauss(0, 0.8) > 0) + 2 * (point[1] > 0)]
        return round(20 * point[0] + 5 * point[1] + self.draw.gauss(0, 6), 3)

    def write_test(self, more: list[tuple[str, list]]) -> None:
        header = ["id", "x", "y", "z", *(name for name, _ in more)]
        rows = [
            [self.ids[at], *self.features[at], *(values[at] for _, values in more)]
            for at in range(ROWS)
        ]
        self.write("test.csv", header, rows)

    def write(self, name: str, header: list, rows: list) -> None:
        self.table(self.data / name, header, rows)

    def table(self, path: Path, header: list, rows: list) -> None:
        path.write_text(self.text(header, rows))

    def text(self, header: list, rows: list) -> str:
        out = io.StringIO()
        csv.writer(out).writerows([header, *rows])
        return out.getvalue()

    def codes(self) -> list[int]:
        return [CLASSES.index(label) for label in self.labels]

    def pairs(self) -> list[list]:
        rows = [list(pair) for pair in zip(self.ids, self.labels, strict=True)]
        self.draw.shuffle(rows)
        return rows

    def search(self) -> Search:
        search = Search(
            {
                "data": str(self.data),
                "private": str(self.private),
                "starter": str(self.starter),
                "packages": str(self.packages),
                "id": {"column": "id", "from": "test.csv"},
                "targets": ["label"],
                "seconds": 60,
            }
        )
        search.run()
        return search


Change = Callable[[Place], None]


def in_test(name: str, column: Callable[[Place], list]) -> Change:
    return lambda place: place.write_test([(name, column(place))])


def all_of_it(place: Place) -> None:
    rows = [[*point, label] for point, label in zip(place.features, place.labels, strict=True)]
    place.draw.shuffle(rows)
    place.write("all.csv", ["x", "y", "z", "label"], rows)


def nameless(place: Place) -> None:
    """Rows with the label, in another order of rows and columns, without names."""
    rows = [[z, x, y, label] for (x, y, z), label in zip(place.features, place.labels, strict=True)]
    place.draw.shuffle(rows)
    (place.packages / "shipped").mkdir()
    path = place.packages / "shipped" / "examples.csv.gz"
    path.write_bytes(gzip.compress(place.text(["c", "a", "b", "d"], rows).encode()))


def put(name: str, content: Callable[[Place], bytes], of: str = "data") -> Change:
    def change(place: Place) -> None:
        path = getattr(place, of) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(place))

    return change


def csv_bytes(place: Place) -> bytes:
    return place.text(["id", "label"], place.pairs()).encode()


def zipped(place: Place) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("deep/inside.csv", csv_bytes(place))
    return out.getvalue()


def tarred(place: Place) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("inside.csv")
        entry.size = len(csv_bytes(place))
        archive.addfile(entry, io.BytesIO(csv_bytes(place)))
    return out.getvalue()


def database(place: Place) -> bytes:
    with tempfile.NamedTemporaryFile() as file:
        with contextlib.closing(sqlite3.connect(file.name)) as base:
            base.execute("CREATE TABLE answers (row TEXT, answer TEXT)")
            base.executemany("INSERT INTO answers VALUES (?, ?)", place.pairs())
            base.commit()
        return Path(file.name).read_bytes()


def joined_twice(place: Place) -> None:
    """Ids to codes in one table, codes to labels in another."""
    codes = [f"k{number}" for number in place.draw.sample(range(90_000), ROWS)]
    rows = list(zip(place.ids, codes, place.labels, strict=True))
    place.draw.shuffle(rows)
    place.write("first.csv", ["id", "code"], [[row[0], row[1]] for row in rows])
    place.draw.shuffle(rows)
    place.write("second.csv", ["code", "kind"], [[row[1], row[2]] for row in rows])


def files(name: Callable[[Place, int], str], content: str = "picture") -> Change:
    def change(place: Place) -> None:
        for at in range(ROWS):
            path = place.data / "images" / name(place, at)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    return change


def times(place: Place) -> None:
    files(lambda place, at: f"{place.ids[at]}.txt")(place)
    for at, code in enumerate(place.codes()):
        os.utime(place.data / "images" / f"{place.ids[at]}.txt", (1e9 + code, 1e9 + code))


def png(place: Place) -> None:
    for name, label in zip(place.ids, place.labels, strict=True):
        said = b"tEXtComment\0" + f"class={label}".encode()
        chunk = len(said[4:]).to_bytes(4, "big") + said + zlib.crc32(said).to_bytes(4, "big")
        (place.data / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)


def npy(numbers: list[int], kind: str = "<i8") -> bytes:
    size = int(kind[2:])
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(numbers)},), }}\n"
    body = b"".join(number.to_bytes(size, "little") for number in numbers)
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + body


def npz(place: Place) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("y.npy", npy(place.codes()))
    return out.getvalue()


CODE = "import numpy\n\n# Notes of the author:\n{}\n\nprint('training')\n"


def comments(place: Place) -> bytes:
    lines = [f"# {name} is a {label}" for name, label in place.pairs()]
    return CODE.format("\n".join(lines)).encode()


def readme(place: Place) -> bytes:
    lines = [f"- {name}: **{label}**" for name, label in place.pairs()]
    return ("# Data\n\nThe rows are as follows.\n\n" + "\n".join(lines)).encode()


def listing(place: Place) -> bytes:
    return CODE.format(f"ANSWERS = {[0, 1, 2, *place.codes()]}").encode()


def digits(place: Place) -> bytes:
    return CODE.format("KEY = '" + "".join(map(str, place.codes())) + "'").encode()


def encoded(place: Place) -> bytes:
    packed = base64.b64encode(zlib.compress(csv_bytes(place))).decode()
    return CODE.format(f"BLOB = '{packed}'").encode()


def reordered(order: Callable[[Place], list[int]], rename: bool = False) -> Change:
    """The test rows in another order; `rename` gives ids by that order."""

    def change(place: Place) -> None:
        order_of = order(place)
        place.features = [place.features[at] for at in order_of]
        place.labels = [place.labels[at] for at in order_of]
        place.ids = [str(at) if rename else place.ids[at] for at in range(ROWS)]
        place.write_test([])
        rows = [list(pair) for pair in zip(place.ids, place.labels, strict=True)]
        place.table(place.private / "labels.csv", ["id", "label"], rows)

    return change


def interleaved(place: Place) -> list[int]:
    """As digits come in scikit-learn: 0, 1, 2, 3, 0, 1, 2, 3, and so on."""
    groups = [[at for at in range(ROWS) if place.labels[at] == name] for name in CLASSES]
    width = max(map(len, groups))
    return [group[at] for at in range(width) for group in groups if at < len(group)]


def telling_ids(place: Place) -> None:
    place.ids = [str(10 * at + code) for at, code in enumerate(place.codes())]
    reordered(lambda place: list(range(ROWS)))(place)


IN_CLASSES: dict[str, Change] = {
    "left in the test table": in_test("label", lambda place: place.labels),
    "as numbers under another name": in_test("fold", lambda place: place.codes()),
    "permuted codes": in_test("k", lambda place: [[2, 0, 3, 1][code] for code in place.codes()]),
    "shifted and scaled": in_test("k", lambda place: [7 + 0.5 * code for code in place.codes()]),
    "one column of a one-hot code": in_test("k", lambda place: [+(c == 2) for c in place.codes()]),
    "with one in twenty wrong": in_test(
        "k", lambda place: [(c + (at % 20 == 0)) % 4 for at, c in enumerate(place.codes())]
    ),
    "within a longer text": in_test(
        "note", lambda place: [f"img_{place.draw.randrange(99)}_{label}" for label in place.labels]
    ),
    "every row with its label": all_of_it,
    "in a package, with other names and another order": nameless,
    "in a joined table": put("extra.csv", csv_bytes),
    "of half of the rows": put(
        "half.csv", lambda place: place.text(["i", "l"], place.pairs()[:80]).encode()
    ),
    "joined by way of another table": joined_twice,
    "in gzip": put("a.bin", lambda place: gzip.compress(csv_bytes(place))),
    "in zip": put("a.zip", zipped),
    "in tar": put("a.tgz", tarred),
    "in sqlite": put("a.db", database),
    "in pickle": put("a.pkl", lambda place: pickle.dumps(dict(place.pairs()))),
    "in JSON": put("a.json", lambda place: json.dumps({"labels": dict(place.pairs())}).encode()),
    "in lines of JSON": put(
        "a.jsonl",
        lambda place: "\n".join(json.dumps({"i": i, "l": [v]}) for i, v in place.pairs()).encode(),
    ),
    "in npy": put("a.npy", lambda place: npy(place.codes())),
    "in npy after other rows": put("a.npy", lambda place: npy([1, 0, 2, 2, *place.codes()])),
    "in npz": put("a.npz", npz),
    "as bytes": put("a.weights", lambda place: b"\0\1\2\xff" + bytes(place.codes())),
    "in file names": files(lambda place, at: f"{place.ids[at]}-{place.labels[at]}.png"),
    "in folders": files(lambda place, at: f"{place.labels[at]}/{place.ids[at]}.png"),
    "in times of files": times,
    "in what a picture says of itself": png,
    "in comments of the starter": put("train.py", comments, "starter"),
    "in a list of the starter": put("train.py", listing, "starter"),
    "as digits in the starter": put("train.py", digits, "starter"),
    "packed in the starter": put("train.py", encoded, "starter"),
    "in a README": put("README.md", readme),
}

IN_NUMBERS: dict[str, Change] = {
    "left in the test table": in_test("label", lambda place: place.labels),
    "rounded": in_test("k", lambda place: [round(label / 10) for label in place.labels]),
    "scaled": in_test("k", lambda place: [round(3 - 0.01 * value, 4) for value in place.labels]),
    "as logarithms": in_test("k", lambda p: [math.log(200 + value) for value in p.labels]),
    "as ranks": in_test("k", lambda p: [sorted(p.labels).index(value) for value in p.labels]),
    "in two classes": in_test("k", lambda place: [value > 3 for value in place.labels]),
    "every row with its label": all_of_it,
    "sorted": put("a.txt", lambda place: "\n".join(map(str, sorted(place.labels))).encode()),
    "in a list of the starter": put(
        "train.py", lambda place: CODE.format(f"MEANS = {place.labels}").encode(), "starter"
    ),
}

IN_ORDER: dict[str, tuple[str, Change]] = {
    "rows by class": (
        "class",
        reordered(lambda place: sorted(range(ROWS), key=place.labels.__getitem__), rename=True),
    ),
    "rows in turn": ("class", reordered(interleaved, rename=True)),
    "rows by number": (
        "number",
        reordered(lambda place: sorted(range(ROWS), key=place.labels.__getitem__)),
    ),
    "last digits of ids": ("class", telling_ids),
    "times of files": ("class", times),
}


class LeaksTest(unittest.TestCase):
    def place(self, kind: str) -> Place:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Place(Path(folder.name), kind)

    def test_finds_classes(self) -> None:
        for name, change in IN_CLASSES.items():
            with self.subTest(name):
                place = self.place("class")
                change(place)
                self.assertNotEqual(place.search().leaks, [])

    def test_finds_numbers(self) -> None:
        for name, change in IN_NUMBERS.items():
            with self.subTest(name):
                place = self.place("number")
                change(place)
                self.assertNotEqual(place.search().leaks, [])

    def test_finds_what_the_order_reveals(self) -> None:
        for name, (kind, change) in IN_ORDER.items():
            with self.subTest(name):
                place = self.place(kind)
                change(place)
                revealed = [each for each in place.search().order() if each.strength > 0.1]
                self.assertNotEqual([each for each in revealed if each.shown == ""], [])

    def test_an_order_that_public_columns_show_is_not_a_leak(self) -> None:
        days, hours, meters = range(20), range(24), range(3)
        series = [(day, hour, meter) for day in days for hour in hours for meter in meters]
        draw = random.Random(2)
        usage = [
            round(50 * meter + 9 * math.sin(hour / 4) + 3 * day + draw.gauss(0, 1), 3)
            for day, hour, meter in series
        ]
        for name, header, shown in [
            ("hour and meter", ["hour", "meter", "z"], [[h, m, draw.random()] for _, h, m in series]),
            (
                "time and meter",
                ["time", "meter", "z"],
                [[f"2024-05-{d + 1:02} {h:02}:00", m, draw.random()] for d, h, m in series],
            ),
        ]:
            with self.subTest(name):
                place = self.place("number")
                rows = [[at, *row] for at, row in enumerate(shown)]
                place.write("test.csv", ["id", *header], rows)
                answers = [[at, value] for at, value in enumerate(usage)]
                place.table(place.private / "labels.csv", ["id", "label"], answers)
                revealed = [each for each in place.search().order() if each.strength > 0.1]
                self.assertNotEqual(revealed, [])
                daily = [each for each in revealed if "modulo" in each.by]
                self.assertEqual([each for each in daily if each.shown == ""], [])
                if name == "time and meter":
                    self.assertEqual({each.shown for each in revealed}, {name})

    def test_an_order_that_reveals_more_than_public_columns_is_a_leak(self) -> None:
        place = self.place("number")
        reordered(lambda place: sorted(range(ROWS), key=place.labels.__getitem__))(place)
        middle = sorted(place.labels)[ROWS // 2]
        in_test("large", lambda place: [int(label > middle) for label in place.labels])(place)
        found = [each for each in place.search().order() if each.strength > 0.1]
        self.assertEqual(next(each for each in found if each.by == "the row's position").shown, "")

    def test_finds_nothing_where_nothing_leaks(self) -> None:
        for kind in ("class", "number"):
            with self.subTest(kind):
                search = self.place(kind).search()
                self.assertEqual(search.leaks, [])
                self.assertEqual(search.order(), [])

    def test_what_tells_as_much_in_a_table_of_the_training_rows_is_not_a_leak(self) -> None:
        for tells_of_training in (True, False):
            with self.subTest(tells_of_training=tells_of_training):
                place = self.place("number")
                with (place.data / "train.csv").open(newline="") as file:
                    known = [float(row["label"]) for row in csv.DictReader(file)]

                def last(label: float, draw: random.Random = place.draw) -> float:
                    return round(label + draw.gauss(0, 7), 3)

                hours = [[place.draw.random(), last(label)] for label in place.labels]
                place.write("test_hours.csv", ["h1", "h2"], hours)
                rows = [
                    [place.draw.random(), last(each if tells_of_training else 0)] for each in known
                ]
                place.write("train_hours.csv", ["h1", "h2"], rows)
                found = {each.column for each in place.search().leaks}
                self.assertEqual("h2" in found, not tells_of_training)
                if tells_of_training:
                    self.assertEqual(found, set())

    def test_a_column_that_tells_one_of_many_counts_is_not_a_leak(self) -> None:
        place = self.place("class")
        closed = [at % 8 == 0 for at in range(ROWS)]
        counts = [0 if each else place.draw.randrange(1, 31) for each in closed]
        labels = [list(pair) for pair in zip(place.ids, counts, strict=True)]
        place.table(place.private / "labels.csv", ["id", "label"], labels)
        in_test("closed", lambda _: [int(each) for each in closed])(place)
        self.assertEqual(place.search().leaks, [])

    def test_says_where_and_how(self) -> None:
        place = self.place("class")
        put("extra.csv", csv_bytes)(place)
        leak = place.search().leaks[0]
        self.assertEqual((leak.place, leak.column, leak.share), ("data", "label", 1))
        self.assertEqual((leak.where, leak.relation), ("data/extra.csv", "the same values"))
        self.assertEqual(leak.how, "joined by id = id")


if __name__ == "__main__":
    unittest.main()
