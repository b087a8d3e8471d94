import json
import os
import subprocess
import sys
import unittest

from fake_harness import Graded, run_grader
from support import HELPERS, TASKS, FolderTest

SPACESHIP = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "PassengerId", "from": "test.csv"},
    "columns": [{"name": "Transported", "type": "text", "values": ["True", "False"]}],
}
HOUSES = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "Id", "from": "test.csv"},
    "columns": [{"name": "SalePrice"}],
}
FAULTY_GRADER = """
import os, sys
sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected

def score(submission):
    value = submission.table.numbers("SalePrice")[0]
    if value == 1:
        raise RuntimeError("a fault \\x1b of the grader")
    if value == 2:
        raise Rejected("timed_out", "too slow")
    if value == 7:
        raise Rejected("bad_runs", "runs overlap")
    if value == 3:
        return float("nan")
    if value == 4:
        return 10.0 ** 1000
    if value == 8:
        return 1e101
    if value == 5:
        raise HarnessError("no sandbox")
    if value == 6:
        return Score(6, details={"error": float("nan")})
    if value in (10, 11, 12):
        return {10: None, 11: "good", 12: Score(None)}[value]
    if value == 13:
        submission.json_lines("answers.jsonl", "id", [])
    return value

grade(score, read_arguments())
"""


class GradingTest(FolderTest):
    def prepare(self, declared: dict, public: str, labels: str) -> None:
        task = {"metric": {}, "submission": {"files": [declared], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        self.write("public/test.csv", public)
        self.write("private/labels.csv", labels)
        (self.folder / "submissions").mkdir()

    def submit(self, name: str, rows: str) -> None:
        self.write(f"submissions/{name}/submission.csv", rows)


class TaskGraders(GradingTest):
    def grade(self, task: str) -> dict[str, dict]:
        graded = run_grader(TASKS / task / "hidden" / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        return graded.results

    def test_accuracy_is_computed_by_id(self) -> None:
        public = "PassengerId\n1_01\n2_01\n3_01\n4_01\n"
        labels = "PassengerId,Transported\n3_01,True\n1_01,True\n4_01,False\n2_01,False\n"
        self.prepare(SPACESHIP, public, labels)
        rows = ["1_01,True", "2_01,True", "3_01,1", "4_01,false"]
        self.submit("ordered", "PassengerId,Transported\n" + "\n".join(rows))
        self.submit("reversed", "PassengerId,Transported\n" + "\n".join(reversed(rows)))
        self.submit("short", "PassengerId,Transported\n" + "\n".join(rows[1:]))
        results = self.grade("spaceship-titanic")
        self.assertEqual(results["ordered"]["score"], 0.75)
        self.assertEqual(results["reversed"]["score"], 0.75)
        self.assertIsNone(results["short"]["score"])
        self.assertFalse(results["short"]["valid"])
        self.assertEqual([p["code"] for p in results["short"]["problems"]], ["missing_ids"])

    def test_mean_absolute_error_is_computed_by_id(self) -> None:
        self.prepare(HOUSES, "Id\n1\n2\n", "Id,SalePrice\n1,100\n2,200\n")
        self.submit("ordered", "Id,SalePrice\n1,110\n2,170\n")
        self.submit("reversed", "SalePrice,Id\n170,2\n110,1\n")
        results = self.grade("house-price")
        self.assertEqual([results[name]["score"] for name in ("ordered", "reversed")], [20, 20])

    def test_predictions_too_large_for_a_score_are_out_of_range(self) -> None:
        self.prepare(HOUSES, "Id\n1\n2\n", "Id,SalePrice\n1,100\n2,200\n")
        self.submit("huge", "Id,SalePrice\n1,1e308\n2,1e308\n")
        (problem,) = self.grade("house-price")["huge"]["problems"]
        self.assertEqual(problem["code"], "out_of_range")


class OneForAll(GradingTest):
    def grade(self, *values: int) -> Graded:
        self.prepare(HOUSES, "Id\n1\n", "Id,SalePrice\n1,100\n")
        for value in values:
            self.submit(f"s{value}", f"Id,SalePrice\n1,{value}\n")
        return run_grader(self.write("grade.py", FAULTY_GRADER), self.folder)

    def test_a_crash_on_one_submission_leaves_the_others_their_scores(self) -> None:
        graded = self.grade(0, 1, 2, 3, 4, 6, 8, 9)
        results = graded.results
        self.assertEqual([results["s0"]["score"], results["s9"]["score"]], [0, 9])
        codes = {name: [p["code"] for p in found["problems"]] for name, found in results.items()}
        self.assertEqual(codes["s2"], ["timed_out"])
        self.assertEqual(codes["s4"], ["out_of_range"])
        self.assertEqual(codes["s8"], ["out_of_range"])
        self.assertNotIn("s1", results)
        self.assertNotIn("s3", results)
        self.assertNotIn("s6", results)

    def test_a_code_of_the_task_itself_is_kept_in_the_message(self) -> None:
        (problem,) = self.grade(7).results["s7"]["problems"]
        self.assertEqual(problem, {"code": "not_allowed", "message": "bad_runs: runs overlap"})

    def test_an_exception_is_reported_with_its_place_kind_and_traceback(self) -> None:
        (failure, _) = self.grade(1, 6).failures
        line = 1 + FAULTY_GRADER.splitlines().index(
            '        raise RuntimeError("a fault \\x1b of the grader")'
        )
        self.assertEqual(failure["place"], f"hidden/grade.py, line {line}")
        self.assertEqual(failure["kind"], "RuntimeError")
        self.assertEqual(failure["error"], "RuntimeError: a fault of the grader")
        self.assertIn("Traceback (most recent call last):\n", failure["traceback"])
        self.assertTrue(failure["traceback"].replace("\n", "").isprintable())

    def test_a_score_that_is_no_number_is_reported_with_the_line_of_the_function(self) -> None:
        failures = self.grade(10, 11, 12).failures
        line = 1 + FAULTY_GRADER.splitlines().index("def score(submission):")
        self.assertEqual({each["place"] for each in failures}, {f"hidden/grade.py, line {line}"})
        self.assertEqual(
            [each["error"] for each in failures],
            [
                "TypeError: score() returned None: return a number or a Score",
                "TypeError: score() returned a str: return a number or a Score",
                "TypeError: score() returned a Score whose value is None: give it a number",
            ],
        )

    def test_a_path_that_the_task_does_not_declare_is_an_error_of_the_grader(self) -> None:
        (failure,) = self.grade(13).failures
        self.assertEqual(
            failure["error"],
            "ValueError: task.yaml declares no file answers.jsonl of a submission, but: "
            "submission.csv",
        )
        line = 1 + FAULTY_GRADER.splitlines().index(
            '        submission.json_lines("answers.jsonl", "id", [])'
        )
        self.assertEqual(failure["place"], f"hidden/grade.py, line {line}")

    def test_a_task_without_a_table_is_told_so(self) -> None:
        task = {"submission": {"files": [{"format": "file", "path": "answers.jsonl"}]}}
        self.write("task.json", json.dumps(task))
        for name in ("public", "private"):
            (self.folder / name).mkdir()
        self.write("submissions/one/answers.jsonl", "{}")
        graded = run_grader(self.write("grade.py", FAULTY_GRADER), self.folder)
        self.assertEqual(
            graded.failures[0]["error"],
            "ValueError: submission.table: task.yaml declares no file of the format csv",
        )

    def test_a_starter_without_its_table_is_graded_with_varying_answers(self) -> None:
        graded = self.grade(0)
        self.assertEqual(list(graded.results), ["s0"])
        self.write("submissions/starter/other.txt", "")
        self.write("public/test.csv", "Id\n1\n2\n3\n")
        found = run_grader(self.folder / "grade.py", self.folder).results
        self.assertTrue(found["starter"]["valid"])
        self.assertEqual(found["starter"]["score"], 0.25)

    def test_by_hand_no_folder_is_given_answers(self) -> None:
        self.grade(0)
        self.write("submissions/starter/other.txt", "")
        command = [sys.executable, "-I", str(self.folder / "grade.py")]
        for name in ("task.json", "submissions", "public", "private"):
            command += [f"--{name.removesuffix('.json')}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        printed = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
        results = [json.loads(line).get("result") for line in printed.splitlines()]
        self.assertEqual(
            [(each["submission"], each["valid"]) for each in results if each],
            [("s0", True), ("starter", False)],
        )

    def test_a_failure_of_the_harness_ends_the_grader_and_revokes_no_result(self) -> None:
        graded = self.grade(0, 5, 9)
        self.assertNotEqual(graded.exit_code, 0)
        self.assertEqual(list(graded.results), ["s0"])
        self.assertIn("no sandbox", graded.errors)


if __name__ == "__main__":
    unittest.main()
