import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from support import HELPERS, FolderTest, needs_numpy

from mlab_task.declaration import read_declaration
from mlab_task.problems import Rejected
from mlab_task.submission import FormatCheck, Submission

CSV = {
    "format": "csv",
    "path": "out/submission.csv",
    "id": {"column": "id", "from": "test.csv"},
    "columns": [{"name": "value"}],
}
PYTHON = {"format": "python", "path": "train.py", "defines": ["convolve"]}
ROWS = "id,value\na,1\nb,2\n"


class SubmissionTest(FolderTest):
    def declare(self, *files: dict, max_mb: int = 1) -> None:
        self.write("public/test.csv", "id,x\na,0\nb,0\n")
        (self.folder / "work").mkdir(exist_ok=True)
        task = {"metric": {}, "submission": {"files": files, "max_mb": max_mb}}
        self.write("task.json", json.dumps(task))

    def problems(self) -> list[tuple[str, str]]:
        declaration = read_declaration(self.folder / "task.json")
        outcome = FormatCheck(declaration, self.folder / "public").check(self.folder / "work")
        if isinstance(outcome, list):
            return [(problem.code, problem.message) for problem in outcome]
        return []

    def codes(self) -> list[str]:
        return [code for code, _ in self.problems()]


class Declarations(SubmissionTest):
    def test_a_file_that_is_none_is_refused_with_the_command_that_makes_one(self) -> None:
        for text in ("null", "[]", "{}", "{", '{"submission": {"files": [{"format": "csv"}]}}'):
            file = self.write("task.json", text)
            with self.assertRaisesRegex(
                SystemExit, "task.json is not JSON.* mlab tasks show TASK --json"
            ):
                read_declaration(file)


class Files(SubmissionTest):
    def test_a_file_in_a_folder_is_found(self) -> None:
        self.declare(CSV)
        self.assertEqual(self.codes(), ["missing_file"])
        self.write("work/out/submission.csv", ROWS)
        self.assertEqual(self.codes(), [])

    def test_folders_links_pipes_and_sockets_are_not_accepted_as_files(self) -> None:
        self.declare(CSV)
        target = self.write("elsewhere/submission.csv", ROWS)
        place = self.folder / "work/out/submission.csv"
        place.mkdir(parents=True)
        self.assertEqual(self.codes(), ["not_a_file"])
        place.rmdir()
        place.symlink_to(target)
        self.assertEqual(self.codes(), ["not_a_file"])
        place.unlink()
        os.mkfifo(place)
        self.assertEqual(self.codes(), ["not_a_file"])
        place.unlink()
        place.parent.rmdir()
        place.parent.symlink_to(target.parent)
        self.assertEqual(self.codes(), ["not_a_file"])
        place.parent.unlink()
        place.parent.write_text("a file where a folder should be")
        self.assertEqual(self.codes(), ["not_a_file"])

    @unittest.skipIf(os.geteuid() == 0, "root may read every file")
    def test_a_file_that_may_not_be_read_is_unreadable(self) -> None:
        self.declare(CSV)
        self.write("work/out/submission.csv", ROWS).chmod(0)
        self.assertEqual(self.codes(), ["unreadable"])

    def test_the_total_size_of_all_files_is_limited(self) -> None:
        self.declare(CSV, {**CSV, "path": "other.csv"})
        self.write("work/out/submission.csv", ROWS + "\n" * 600_000)
        self.write("work/other.csv", ROWS + "\n" * 600_000)
        self.assertEqual(self.codes(), ["unreadable", "too_large"])

    def test_any_file_that_is_not_empty_is_left_to_the_grader(self) -> None:
        self.declare({"format": "file", "path": "model/weights.bin"})
        self.assertEqual(self.codes(), ["missing_file"])
        place = self.write("work/model/weights.bin", "")
        self.assertEqual(self.codes(), ["unreadable"])
        place.write_bytes(bytes(range(256)))
        declaration = read_declaration(self.folder / "task.json")
        outcome = FormatCheck(declaration, self.folder / "public").check(self.folder / "work")
        self.assertEqual(outcome.read("model/weights.bin"), bytes(range(256)))

    def test_every_file_is_checked(self) -> None:
        self.declare(CSV, PYTHON)
        self.assertEqual(self.codes(), ["missing_file", "missing_file"])


class PythonFiles(SubmissionTest):
    def judged(self, source: str | bytes) -> list[str]:
        self.declare(PYTHON)
        self.write("work/train.py", source)
        return self.codes()

    def test_a_function_may_be_bound_in_any_way_at_the_top_level(self) -> None:
        for source in [
            "def convolve(x): return x",
            "convolve = max",
            "convolve: object = max",
            "from numpy import convolve",
            "from numpy import dot as convolve",
            "from numpy import *",
            "try:\n  import fast\nexcept ImportError:\n  def convolve(x): return x",
            "if True:\n  a, convolve = 1, 2",
        ]:
            with self.subTest(source):
                self.assertEqual(self.judged(source), [])

    def test_a_module_without_the_function_is_reported(self) -> None:
        for source in ["", "def other(): convolve = 1", "class A:\n  def convolve(self): ..."]:
            with self.subTest(source):
                self.assertEqual(self.judged(source), ["missing_function"])

    def test_source_that_does_not_parse_is_unreadable(self) -> None:
        for source in [
            "def convolve(:",
            b"\xff\xfe",
            "a = '\0'",
            "# -*- coding: nonsense -*-\n",
        ]:
            with self.subTest(source[:20]):
                self.assertEqual(self.judged(source), ["unreadable"])

    def test_source_that_overstrains_the_parser_is_refused(self) -> None:
        for source in ["(" * 900_000, "-" * 900_000 + "1", "x = " + "a." * 400_000 + "b"]:
            with self.subTest(source[:20]):
                # Which of the two depends on the version of Python.
                (code,) = self.judged(source)
                self.assertIn(code, ["unreadable", "missing_function"])

    def test_no_code_of_a_module_is_run(self) -> None:
        mark = self.folder / "mark"
        source = f"open({str(mark)!r}, 'w')\ndef convolve(x): return x"
        self.assertEqual(self.judged(source), [])
        self.assertFalse(mark.exists())


class Script(SubmissionTest):
    def run_script(self) -> dict:
        command = [sys.executable, "-I", str(HELPERS / "check_submission.py")]
        for name, path in [("task", "task.json"), ("submission", "work"), ("public", "public")]:
            command += [f"--{name}", str(self.folder / path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path("/"))
        return json.loads(ended.stdout)

    def test_it_prints_one_verdict(self) -> None:
        self.declare(CSV)
        self.assertFalse(self.run_script()["valid"])
        self.write("work/out/submission.csv", ROWS)
        self.assertEqual(self.run_script(), {"valid": True, "problems": []})
        self.write("work/out/submission.csv", "id,value\na,x\n")
        verdict = self.run_script()
        self.assertFalse(verdict["valid"])
        self.assertEqual(
            [problem["code"] for problem in verdict["problems"]], ["missing_ids", "not_a_number"]
        )


@needs_numpy
class SubmittedArrays(FolderTest):
    def outcome(self, content: bytes) -> object:
        (self.folder / "scores.npy").write_bytes(content)
        try:
            return Submission("one", self.folder, {}, ("scores.npy",)).array("scores.npy", (2, 3))
        except Rejected as rejection:
            return rejection.problem.code

    def saved(self, array: object, **options: bool) -> bytes:
        import numpy as np

        file = io.BytesIO()
        np.save(file, array, **options)
        return file.getvalue()

    def test_the_numbers_of_an_array_are_read_in_the_shape_asked_for(self) -> None:
        import numpy as np

        for kind in ("f4", "i8", "u1", "?"):
            read = self.outcome(self.saved(np.ones((2, 3), kind)))
            self.assertEqual(read.tolist(), [[1, 1, 1], [1, 1, 1]])

    def test_anything_else_is_an_invalid_submission(self) -> None:
        import numpy as np

        good = self.saved(np.zeros((2, 3)))
        huge = good.replace(b"(2, 3), }" + b" " * 10, b"(200000000, 3), }" + b" " * 2)
        self.assertEqual(len(huge), len(good))
        nan = np.full((2, 3), np.nan)
        for expected, content in (
            ("unreadable", b"score: 1"),
            ("unreadable", good[:20]),
            ("unreadable", good[:-8]),
            ("wrong_shape", huge),
            ("wrong_shape", self.saved(np.zeros((3, 2)))),
            ("not_a_number", self.saved(np.full((2, 3), "1"))),
            ("not_a_number", self.saved(np.full((2, 3), None), allow_pickle=True)),
            ("not_finite", self.saved(nan)),
        ):
            with self.subTest(expected, content=content[:30]):
                self.assertEqual(self.outcome(content), expected)


class SubmittedLines(FolderTest):
    def outcome(self, content: bytes) -> object:
        (self.folder / "ratings.jsonl").write_bytes(content)
        try:
            return Submission("one", self.folder, {}, ("ratings.jsonl",)).json_lines(
                "ratings.jsonl", "call", ["a", "7"]
            )
        except Rejected as rejection:
            return rejection.problem.code

    def test_the_object_of_each_id_is_read_in_any_order(self) -> None:
        read = self.outcome(b'{"call": 7, "urgency": 3}\r\n\n{"urgency": null, "call": "a"}')
        self.assertEqual(
            read, {"7": {"call": 7, "urgency": 3}, "a": {"urgency": None, "call": "a"}}
        )

    def test_anything_else_is_an_invalid_submission(self) -> None:
        one, other = b'{"call": "a"}\n', b'{"call": "7"}\n'
        for expected, content in (
            ("unreadable", one + b"{"),
            ("unreadable", b'{"call": "\xff"}'),
            ("unreadable", b"[" * 100_000),
            ("unreadable", one.decode().encode("utf-16")),
            ("wrong_columns", one + b'["7"]'),
            ("wrong_columns", one + b'{"id": "7"}'),
            ("wrong_columns", one + b'{"call": [7]}'),
            ("duplicate_ids", one + other + one),
            ("extra_ids", one + other + b'{"call": "b"}'),
            ("missing_ids", one),
            ("missing_ids", b"\n"),
        ):
            with self.subTest(expected, content=content[:30]):
                self.assertEqual(self.outcome(content), expected)


if __name__ == "__main__":
    unittest.main()
