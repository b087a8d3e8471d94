import gzip
import random
import string
import unittest
from dataclasses import replace

from support import FolderTest, check, declare

from mlab_task.csv_check import Table, read_ids
from mlab_task.declaration import Column
from mlab_task.problems import CODES, Problem
from mlab_task.tables import LONGEST_FIELD, LONGEST_LINE, LONGEST_ROW

GOOD = "id,value\na,1\nb,2.5\nc,-3e2\n"
DIGIT = Column("value", type="integer", min=0, max=9)
FLAG = Column("value", type="text", values=("True", "False"))


class Ids(FolderTest):
    def test_are_read_from_a_compressed_file_too(self) -> None:
        self.write("test.csv.gz", gzip.compress(b"id,x\na,1\nb,2\n"))
        declared = replace(declare(), id_file="test.csv.gz")
        self.assertEqual(read_ids(self.folder, declared), ("a", "b"))


class AcceptedTables(unittest.TestCase):
    def values(self, content: str | bytes, *columns: Column) -> list:
        table = check(content, *columns)
        self.assertIsInstance(table, Table, table)
        return table.column("value")

    def test_rows_are_matched_by_id_in_any_order(self) -> None:
        expected = [1.0, 2.5, -300.0]
        self.assertEqual(self.values(GOOD), expected)
        self.assertEqual(self.values("id,value\nc,-3e2\na,1\nb,2.5\n"), expected)

    def test_a_column_can_be_requested_in_another_order(self) -> None:
        self.assertEqual(check(GOOD).numbers("value", ["c", "a"]), [-300.0, 1.0])

    def test_columns_may_be_in_any_order_and_follow_the_index_that_pandas_writes(self) -> None:
        self.assertEqual(self.values("value,id\n1,a\n2,b\n3,c\n"), [1, 2, 3])
        self.assertEqual(self.values(",id,value\n0,a,1\n1,b,2\n2,c,3\n"), [1, 2, 3])

    def test_what_common_programs_write_is_tolerated(self) -> None:
        self.assertEqual(self.values(b"\xef\xbb\xbf" + GOOD.encode()), [1, 2.5, -300])
        self.assertEqual(self.values(GOOD.replace("\n", "\r\n")), [1, 2.5, -300])
        self.assertEqual(self.values('"id","value"\n"a","1"\nb, 2 \n\nc,.5\n\n'), [1, 2, 0.5])

    def test_whole_numbers_may_be_written_with_a_fraction_of_zero(self) -> None:
        self.assertEqual(self.values("id,value\na,3.0\nb,1e0\nc,7\n", DIGIT), [3, 1, 7])

    def test_a_whole_number_too_long_for_a_float_stays_exact(self) -> None:
        long = 2**70 + 1
        rows = f"id,value\na,{long}\nb,1\nc,1\n"
        self.assertEqual(self.values(rows, Column("value", type="integer"))[0], long)

    def test_truth_values_are_read_in_all_their_spellings(self) -> None:
        for true, false in [("True", "False"), ("true", "FALSE"), ("1", "0"), ("1.0", "0.0")]:
            rows = f"id,value\na,{true}\nb,{false}\nc,{true}\n"
            self.assertEqual(self.values(rows, FLAG), ["True", "False", "True"])


class RefusedTables(unittest.TestCase):
    def refused(self, content: str | bytes, code: str, *columns: Column) -> str:
        """The message of the only problem, which must have this code."""
        problems = check(content, *columns)
        self.assertIsInstance(problems, list)
        self.assertEqual([problem.code for problem in problems], [code], problems)
        return problems[0].message

    def test_an_empty_file_and_one_with_only_a_header_are_distinguished(self) -> None:
        self.assertIn("empty", self.refused("", "unreadable"))
        self.assertIn("empty", self.refused(b"\xef\xbb\xbf", "unreadable"))
        self.assertIn("3 of 3 ids are missing", self.refused("id,value\n", "missing_ids"))

    def test_bytes_that_are_not_text_are_unreadable(self) -> None:
        self.assertIn("not UTF-8", self.refused(GOOD.encode("utf-16"), "unreadable"))
        self.assertIn("line 2", self.refused(b"id,value\na,\xff\n", "unreadable"))
        self.assertIn("NUL", self.refused(b"id,value\na,1\0\n", "unreadable"))

    def test_broken_quoting_is_unreadable(self) -> None:
        self.refused('id,value\na,"1"2\n', "unreadable")
        self.refused('id,value\na,"1\nb,2\nc,3\n', "unreadable")

    def test_huge_lines_and_fields_are_unreadable(self) -> None:
        line = b"id,value\na," + b"1" * (LONGEST_LINE + 1)
        self.assertIn("line 2 is longer", self.refused(line, "unreadable"))
        field = b"id,value\na," + b"1" * (LONGEST_FIELD + 1)
        self.assertIn("field larger", self.refused(field, "unreadable"))

    def test_a_row_of_very_many_lines_is_unreadable(self) -> None:
        # Each quoted break begins another field; all of them would take 25 times the file's bytes.
        fields = b'"ab\n",' * (LONGEST_ROW // 6 + 1)
        for content in (fields, b"id,value\n" + fields):
            self.assertIn("row that ends with line", self.refused(content, "unreadable"))
        row = b'a,"1\n' + b"\n" * 10_000 + b'"\nb,2\nc,3\n'
        self.assertIsInstance(check(b"id,value\n" + row), Table)

    def test_wrong_columns_are_reported_by_name(self) -> None:
        message = self.refused("id,Value\na,1\n", "wrong_columns")
        self.assertIn("missing 'value'", message)
        self.assertIn("unknown 'Value'", message)
        self.assertIn("twice", self.refused("id,value,value\na,1,1\n", "wrong_columns"))
        self.assertIn("unknown 'x'", self.refused("id,value,x\na,1,1\n", "wrong_columns"))
        self.assertIn("unknown ''", self.refused("id,,value\na,1,1\n", "wrong_columns"))
        self.assertIn("unknown ''", self.refused(",,id,value\n0,0,a,1\n", "wrong_columns"))

    def test_a_header_of_very_many_columns_is_checked_quickly(self) -> None:
        # Counting each name again would take an hour.
        message = self.refused("id" + ",value" * 300_000, "wrong_columns")
        self.assertIn("given twice 'value'", message)

    def test_rows_of_the_wrong_width_are_counted(self) -> None:
        problems = check("id,value\na,1,1\nb\nc,3\n")
        self.assertEqual([problem.code for problem in problems], ["wrong_columns", "missing_ids"])
        self.assertIn("2 rows have not as many fields", problems[0].message)
        self.assertIn("line 2 has 3, line 3 has 1", problems[0].message)

    def test_missing_duplicate_and_extra_ids_are_distinguished(self) -> None:
        problems = check("id,value\na,1\na,2\nz,1\n1.0,1\n")
        self.assertEqual(
            [(problem.code, problem.message) for problem in problems],
            [
                ("missing_ids", "submission.csv: 2 of 3 ids are missing: 'b', 'c'"),
                ("duplicate_ids", "submission.csv: 1 row has an id that came before: 'a' (line 3)"),
                (
                    "extra_ids",
                    "submission.csv: 2 rows have an id that is not in test.csv: "
                    "'z' (line 4), '1.0' (line 5)",
                ),
            ],
        )

    def test_at_most_three_examples_are_shown(self) -> None:
        rows = "".join(f"{number},x\n" for number in range(2_000))
        ids = tuple(str(number) for number in range(2_000))
        (problem,) = check("id,value\n" + rows, ids=ids)
        self.assertIn("2,000 cells are", problem.message)
        self.assertTrue(problem.message.endswith("'x' (line 4) and 1,997 more"), problem.message)

    def test_what_is_not_a_number_is_distinguished_from_what_is_not_finite(self) -> None:
        cells = {
            "not_a_number": ["", "x", "0x10", "1_000", "1,5", "١٢", "=1+1", "1e", "--1", "9" * 200],
            "not_finite": ["nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "-1e999"],
        }
        for code, texts in cells.items():
            for text in texts:
                with self.subTest(text):
                    self.refused(f'id,value\na,"{text}"\nb,2\nc,3\n', code)

    def test_an_empty_cell_a_nan_and_an_infinity_have_separate_messages(self) -> None:
        problems = check("id,value\na,\nb,nan\nc,inf\n")
        messages = " ".join(problem.message for problem in problems)
        for part in ["empty", "1 cell is NaN", "infinite"]:
            self.assertIn(part, messages)

    def test_numbers_out_of_range_or_not_whole_are_refused(self) -> None:
        self.refused("id,value\na,10\nb,2\nc,3\n", "out_of_range", DIGIT)
        self.refused("id,value\na,-1\nb,2\nc,3\n", "out_of_range", DIGIT)
        self.refused("id,value\na,1.5\nb,2\nc,3\n", "not_a_number", DIGIT)

    def test_values_that_are_not_allowed_are_refused(self) -> None:
        self.assertIn(
            "none of True, False", self.refused("id,value\na,yes\nb,1\nc,0\n", "not_allowed", FLAG)
        )
        letters = Column("value", type="text", values=("x", "y"))
        self.refused("id,value\na,X\nb,y\nc,x\n", "not_allowed", letters)
        numbers = Column("value", values=("1", "2.5"))
        self.refused("id,value\na,1.0\nb,2.50\nc,3\n", "not_allowed", numbers)

    def test_hostile_text_is_shown_escaped_and_shortened(self) -> None:
        message = self.refused(f"id,value\na,\x1b[31m{'x' * 500}\nb,2\nc,3\n", "not_a_number")
        self.assertNotIn("\x1b", message)
        self.assertLess(len(message), 300)


class HostileTables(unittest.TestCase):
    def test_a_file_of_many_megabytes_is_checked_quickly(self) -> None:
        for content in [
            b"9" * 100_000_000,
            b"id,value\n" + b"\n" * 20_000_000,
            b"id,value\n" + b"a,1\n" * 5_000_000,
            b'id,value\na,"' + b"\n" * 20_000_000,
        ]:
            self.assertIsInstance(check(content), list)

    def test_any_bytes_give_a_table_or_problems_and_never_raise(self) -> None:
        generator = random.Random(7)
        pieces = [
            *(b"id", b"value", b"a", b"b", b"c", b",", b",", b"\n", b"\n", b'"', b"\r", b"\0"),
            *(b"1", b"1e999", b"nan", b" ", b"\xff", b"\xef\xbb\xbf", "١٢".encode(), b"-", b"."),
        ]
        for _ in range(5_000):
            start = generator.choice(
                [b"", b"id,value\n", b"value,id\n", b"\xef\xbb\xbfid,value\r\n"]
            )
            content = start + b"".join(generator.choices(pieces, k=generator.randrange(30)))
            outcome = check(content)
            if isinstance(outcome, list):
                self.assertTrue(outcome)
                self.assertTrue(all(isinstance(problem, Problem) for problem in outcome))
                self.assertTrue({problem.code for problem in outcome} <= CODES)
                self.assertTrue(all(problem.message.isascii() for problem in outcome))
            else:
                self.assertEqual(set(outcome.columns["value"]), {"a", "b", "c"})

    def test_any_numbers_in_any_order_are_returned_under_their_ids(self) -> None:
        generator = random.Random(11)
        for _ in range(300):
            letters = generator.sample(string.ascii_letters, k=generator.randrange(1, 20))
            ids = tuple(letters)
            numbers = {
                name: generator.uniform(-1, 1) * 10 ** generator.randrange(9) for name in ids
            }
            shuffled = generator.sample(letters, k=len(letters))
            rows = "".join(f"{name},{numbers[name]!r}\n" for name in shuffled)
            table = check("id,value\n" + rows, ids=ids)
            self.assertEqual(table.column("value"), [numbers[name] for name in ids])


if __name__ == "__main__":
    unittest.main()
