"""Needs pandas, mlab, and in MLAB_TEST_EXPERIMENTS a folder with the experiment `first`."""

import importlib.util
import json
import os
import tempfile
import unittest
import unittest.mock
import warnings
from pathlib import Path

import mlagentbench
from mlagentbench import StoreError
from mlagentbench.tables import _mlab

EXPERIMENTS = Path(os.environ.get("MLAB_TEST_EXPERIMENTS", ""))
FIRST = EXPERIMENTS / "first"


@unittest.skipUnless("MLAB_TEST_EXPERIMENTS" in os.environ, "no experiments are given")
@unittest.skipUnless(importlib.util.find_spec("pandas"), "this Python has no pandas")
class Tables(unittest.TestCase):
    def test_columns_have_types(self) -> None:
        kinds = {str(kind) for kind in mlagentbench.runs(FIRST).dtypes}
        self.assertLessEqual({"string", "Int64", "Float64", "boolean"}, kinds)
        runs = mlagentbench.runs(FIRST).set_index("run")
        self.assertEqual(str(runs.started.dt.tz), "UTC")
        self.assertEqual(runs.seed["graded"], runs.seed["ungraded"] + 1)
        self.assertEqual(list(runs["flags"]["graded"]), [])

    def test_figures_are_those_of_the_report(self) -> None:
        runs = mlagentbench.runs(FIRST)
        report = _mlab(EXPERIMENTS, "report", "first")
        rates = runs.groupby("agent")["success"].mean()
        for pair in report["pairs"]:
            rate = rates[pair["agent"]]
            said = pair["success"]["rate"]
            self.assertEqual(None if rate is pandas_na() else float(rate), said, pair["agent"])
        for line in report["runs"]:
            row = runs[runs.run == line["run"]].iloc[0]
            for name in ("score", "improvement", "seconds", "tokens", "money", "steps"):
                value = None if row[name] is pandas_na() else row[name]
                self.assertEqual(value, line[name], f"{line['run']}: {name}")

    def test_an_unfinished_run_has_no_result(self) -> None:
        row = mlagentbench.runs(FIRST, "planned").iloc[0]
        self.assertEqual((row.status, row.steps), ("pending", 0))
        for name in ("score", "success", "significant", "end"):
            self.assertIs(row[name], pandas_na(), name)

    def test_steps_grades_and_calls_are_those_of_the_runs(self) -> None:
        runs = mlagentbench.runs(EXPERIMENTS)
        steps = mlagentbench.steps(EXPERIMENTS)
        calls = mlagentbench.calls(EXPERIMENTS)
        self.assertEqual(len(steps), runs.steps.sum())
        tokens = (calls.prompt_tokens + calls.completion_tokens).groupby(calls.run).sum()
        for run, sum_of_run in tokens.items():
            self.assertEqual(sum_of_run, runs[runs.run == run].tokens.iloc[0], run)
        self.assertEqual(json.loads(steps.args.iloc[0]), {"script_name": "train.py"})
        grades = mlagentbench.grades(FIRST, "graded")
        self.assertEqual(grades.score.tolist(), [0.5, 0.6, 0.995])

    def test_a_damaged_run_is_left_out_with_a_warning(self) -> None:
        path = FIRST / "runs/ungraded/run.json"
        content = path.read_bytes()
        self.addCleanup(path.write_bytes, content)
        path.write_bytes(b"{")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            runs = mlagentbench.runs(FIRST)
        self.assertNotIn("ungraded", set(runs.run))
        self.assertIn("first/ungraded", str(told[0].message))

    def test_a_workspace_is_restored(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            mlagentbench.restore(FIRST, "graded", 2, Path(scratch, "after"))
            text = Path(scratch, "after/notes.txt").read_text()
        self.assertEqual(text, "after step 2")

    def test_errors_say_what_is_wrong(self) -> None:
        for message, folder, run in [
            ("There is no folder", EXPERIMENTS / "third", None),
            ("is not an experiment and contains none", FIRST / "objects", None),
            ('no experiment or run "first/grade"', FIRST, "grade"),
            ("contains several experiments", EXPERIMENTS, "graded"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(StoreError, message):
                mlagentbench.runs(folder, run)
        with unittest.mock.patch.dict(os.environ, {"MLAB": "", "PATH": ""}):
            with self.assertRaisesRegex(StoreError, "not on the PATH"):
                mlagentbench.runs(FIRST)


def pandas_na() -> object:
    import pandas

    return pandas.NA


if __name__ == "__main__":
    unittest.main()
