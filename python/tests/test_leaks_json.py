"""The leak search reads nested JSON as tables, and names private files that it cannot search."""

import json
import random
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "leaks"))

import python_values
from find_leaks import Leak, Search, strongest
from readers import read_file

BOOKS = {str(500 + at): [10_000 + 7 * at + book for book in range(at % 4)] for at in range(30)}
PAIRS = [(key, str(book)) for key, books in BOOKS.items() for book in books]


class JsonTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("data", "private", "starter", "packages"):
            (self.root / name).mkdir()

    def tables(self, value: object) -> list[dict[str, list[str]]]:
        path = self.root / "some.json"
        path.write_text(json.dumps(value))
        return [table.columns for table in read_file(path, "some.json")]

    def rows(self, value: object, *names: str) -> list[tuple[str, ...]]:
        """Those of the table with these columns and no others."""
        found = [columns for columns in self.tables(value) if tuple(columns) == names]
        return [row for columns in found for row in zip(*columns.values(), strict=True)]

    def search(self, **private: object) -> Search:
        for name, value in private.items():
            (self.root / f"private/{name}.json").write_text(json.dumps(value))
        folders = {name: str(self.root / name) for name in ("data", "private", "starter")}
        packages = str(self.root / "packages")
        search = Search({**folders, "packages": packages, "id": None, "targets": [], "seconds": 60})
        search.run()
        return search


class NestedTest(JsonTest):
    def test_a_mapping_of_lists_is_a_table_of_their_elements_with_the_keys(self) -> None:
        found = [row for row in self.rows(BOOKS, "key", "value") if not row[1].startswith("[")]
        self.assertEqual(found, PAIRS)
        few = {"a": list(range(9)), "b": list(range(5))}
        self.assertIn(("b", "4"), self.rows(few, "key", "value"))

    def test_a_mapping_of_lists_of_one_length_is_also_a_table_of_rows(self) -> None:
        found = self.rows({key: [1, int(key), 3] for key in BOOKS}, "0", "1", "2", "3")
        self.assertEqual(found[4], ("504", "1", "504", "3"))

    def test_a_mapping_of_objects_has_a_row_for_each_key(self) -> None:
        value = {key: {"day": 3, "desk": {"name": "A"}} for key in BOOKS}
        found = self.rows(value, "key", "day", "desk.name")
        self.assertEqual((found[2], len(found)), (("502", "3", "a"), 30))

    def test_a_mapping_of_objects_with_keys_of_their_own_has_a_row_for_each_of_those(self) -> None:
        value = {key: {str(book): book % 5 for book in books} for key, books in BOOKS.items()}
        found = self.rows(value, "key", "value.key", "value.value")
        self.assertEqual([row[:2] for row in found], PAIRS)

    def test_a_mapping_of_lists_of_objects_has_a_row_for_each_object(self) -> None:
        value = {key: [{"book": book} for book in books] for key, books in BOOKS.items()}
        self.assertEqual(self.rows({"loans": value}, "key", "value.book"), PAIRS)

    def test_records_with_lists_have_a_row_for_each_element(self) -> None:
        value = [{"reader_id": int(key), "books": books} for key, books in BOOKS.items()]
        found = self.rows(value, "reader_id", "books")
        self.assertEqual([row for row in found if not row[1].startswith("[")], PAIRS)

    def test_a_list_of_lists_is_a_table_of_their_elements_with_the_place_of_the_list(self) -> None:
        found = self.rows([*BOOKS.values()], "key", "value")
        self.assertIn(("3", str(BOOKS["503"][2])), found)
        value = [[{"book": book} for book in books] for books in BOOKS.values()]
        self.assertEqual(len(self.rows(value, "key", "value.book")), len(PAIRS))

    def test_lists_within_elements_are_left_out_of_the_table_of_the_elements(self) -> None:
        value = {key: [{"names": ["a", "b"], "n": key}] for key in BOOKS}
        self.assertEqual(self.rows(value, "key", "value.n")[2], ("502", "502"))
        self.assertEqual(self.rows(value, "key", "value.names", "value.n"), [])

    def test_very_many_elements_are_read_in_part(self) -> None:
        with mock.patch.object(python_values, "MOST_ROWS", 50):
            found = self.tables({key: list(range(7)) for key in BOOKS})
        self.assertEqual({len(next(iter(each.values()))) for each in found}, {7, 30, 50})


class PrivateJsonTest(JsonTest):
    def borrowed(self) -> dict[str, list[int]]:
        draw = random.Random(4)
        readers = draw.sample(range(500, 900), 90)
        return {str(reader): draw.choices(range(60), k=draw.randint(1, 5)) for reader in readers}

    def test_hidden_lists_are_found_in_public_data(self) -> None:
        borrowed = self.borrowed()
        books = [str(9 - 3 * book) for each in borrowed.values() for book in each]
        lines = [f"{place % 7},{book}" for place, book in enumerate(books)]
        (self.root / "data/codes.csv").write_text("\n".join(["place,code", *lines]))
        search = self.search(borrowed=borrowed)
        self.assertEqual({(leak.column, leak.hidden) for leak in search.leaks}, {("code", "value")})
        self.assertEqual(search.unsearched, [])

    def test_public_ids_of_lists_are_not_hidden_and_records_are_counted(self) -> None:
        draw = random.Random(7)
        test = [
            {"id": f"t{at}", "text": f"word {draw.random()}", "tags": draw.choices("abcdef", k=2)}
            for at in range(100)
        ]
        labels = [{"id": each["id"], "tags": each["tags"]} for each in test]
        (self.root / "data/test.jsonl").write_text("\n".join(map(json.dumps, test)))
        (self.root / "private/labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
        leaks = strongest(self.search().leaks)
        self.assertEqual([(leak.column, leak.hidden) for leak in leaks], [("tags", "tags")])
        self.assertEqual((leaks[0].rows, leaks[0].share), (100, 1.0))

    def test_measured_numbers_are_searched_though_no_two_are_the_same(self) -> None:
        draw = random.Random(5)
        hours = {str(at): round(draw.gauss(9, 2), 6) for at in range(80)}
        (self.root / "data/a.json").write_text(json.dumps(sorted(hours.values())))
        self.assertNotEqual(self.search(hours=hours).leaks, [])

    def test_private_files_that_are_not_searched_are_named_with_the_reason(self) -> None:
        (self.root / "private/broken.npy").write_bytes(b"\x93NUMPY\x01\0")
        (self.root / "private/note.txt").write_text("to do")
        search = self.search(nested={"a": {"b": [[1, [2]]]}}, few={str(at): at for at in range(12)})
        self.assertEqual(search.questions, [])
        found = {said.split(":")[0]: said for said in search.unsearched}
        self.assertEqual(set(found), {"broken.npy", "note.txt", "nested.json", "few.json"})
        self.assertIn("no table was found in it", found["nested.json"])
        self.assertIn("20 rows", found["few.json"])
        self.assertRegex(found["broken.npy"], "[Ee]rror")


if __name__ == "__main__":
    unittest.main()


class ListsTest(JsonTest):
    def test_hidden_lists_are_found_in_a_table_with_a_row_for_each_of_their_elements(self) -> None:
        draw = random.Random(6)
        readers = [f"r{at}" for at in range(60)]
        books = {
            reader: draw.sample([f"b{at}" for at in range(90)], draw.randint(3, 6))
            for reader in readers
        }
        for mark in (" ", ", "):
            rows = [f'{reader},"{mark.join(each)}"' for reader, each in books.items()]
            (self.root / "private/later.csv").write_text("\n".join(["reader,books", *rows]))
            (self.root / "data/readers.csv").write_text("\n".join(["reader", *readers]))
            pairs = [f"{reader},{book}" for reader, each in books.items() for book in each]
            draw.shuffle(pairs)
            self.reserved("reader,book", pairs)
            leaks = self.found()
            self.assertEqual([(leak.column, leak.hidden) for leak in leaks], [("book", "books")])
            others = [f"{reader},b{draw.randint(0, 89)}" for reader in readers for _ in range(4)]
            self.reserved("reader,book", others)
            self.assertEqual(self.found(), [])

    def reserved(self, header: str, rows: list[str]) -> None:
        (self.root / "data/reservations.csv").write_text("\n".join([header, *rows]))

    def found(self) -> list[Leak]:
        folders = {name: str(self.root / name) for name in ("data", "private", "starter")}
        ids = {"column": "reader", "from": "readers.csv"}
        search = Search(
            {
                **folders,
                "packages": str(self.root / "packages"),
                "id": ids,
                "targets": ["books"],
                "seconds": 60,
            }
        )
        search.run()
        return strongest(search.leaks)
