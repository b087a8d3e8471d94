"""The tasks parkinsons-disease and feedback: what is hidden, and how it is scored."""

import csv
import json
import math
import os
import random
import subprocess
import sys
import unittest

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

PARKINSONS = "amp-parkinsons-disease-progression-prediction"
ESSAYS = "feedback-prize-english-language-learning"
SKILLS = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")
CLINICAL = "visit_id,patient_id,visit_month,updrs_1,updrs_2,updrs_3,updrs_4,state\n"
MONTHS = (0, 6, 12, 24, 36, 96, 108)


class TaskTest(FolderTest):
    def prepare(self, task: str, variant: str | None = None) -> None:
        command = [sys.executable, "-I", "-B", str(TASKS / task / "hidden" / "prepare.py")]
        for name in ("downloads", "public", "private"):
            (self.folder / str(variant) / name).mkdir(parents=True, exist_ok=True)
            place = self.folder / (name if name == "downloads" else f"{variant}/{name}")
            command += [f"--{name}", str(place)]
        if variant is not None:
            command += ["--variant", variant]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment, cwd=self.folder)

    def rows(self, path: str) -> list[dict[str, str]]:
        with (self.folder / path).open(newline="") as file:
            return list(csv.DictReader(file))

    def grade(self, task: str, file: dict, labels: str, submissions: dict[str, str]) -> dict:
        """Results by the name of the submission; the ids are the first column of the labels."""
        declared = {"metric": {}, "submission": {"files": [file], "max_mb": 1}}
        self.write("task.json", json.dumps(declared))
        ids = [line.split(",")[0] for line in labels.splitlines()]
        self.write("public/test.csv", "\n".join(ids) + "\nunscored\n")
        self.write("private/labels.csv", labels)
        for name, content in submissions.items():
            self.write(f"submissions/{name}/submission.csv", content)
        graded = run_grader(TASKS / task / "hidden" / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        return graded.results

    def assert_refused(self, results: dict, codes: dict[str, str]) -> None:
        for name, code in codes.items():
            self.assertIsNone(results[name]["score"], name)
            self.assertIn(code, [problem["code"] for problem in results[name]["problems"]])


class ParkinsonsSplit(TaskTest):
    """Twelve patients; every score is a number that occurs nowhere else."""

    patients = [str(100 + number) for number in range(12)]

    def setUp(self) -> None:
        super().setUp()
        folder = f"downloads/{PARKINSONS}"
        visits = [(patient, month) for patient in self.patients for month in MONTHS]
        self.scores = {
            (patient, month, k): f"{7000 + 4 * place + k}"
            for place, (patient, month) in enumerate(visits)
            for k in (1, 2, 3, 4)
        }
        for patient in self.patients:
            self.scores[patient, 24, 4] = ""
        clinical = [
            f"{p}_{m},{p},{m}," + ",".join(self.scores[p, m, k] for k in (1, 2, 3, 4)) + ",On\n"
            for p, m in visits
        ]
        self.write(f"{folder}/train_clinical_data.csv", CLINICAL + "".join(clinical))
        self.write(f"{folder}/supplemental_clinical_data.csv", CLINICAL + "9_0,9,0,1,1,1,1,\n")
        for name, columns in (("proteins", "UniProt,NPX"), ("peptides", "UniProt,Peptide,Amount")):
            rows = [f"{p}_{m},{m},{p}{',x' * columns.count(',')},1\n" for p, m in visits]
            header = f"visit_id,visit_month,patient_id,{columns}\n"
            self.write(f"{folder}/train_{name}.csv", header + "".join(rows))

    def test_a_quarter_of_the_patients_is_hidden_from_one_visit_on(self) -> None:
        self.prepare("parkinsons-disease")
        public = {path.name: path.read_text() for path in (self.folder / "None/public").iterdir()}
        asked = {row["patient_id"]: int(row["visit_month"]) for row in self.rows_of("test")}
        self.assertEqual(len(asked), 3)
        everything = "\n".join(public.values())
        for (patient, month, k), score in self.scores.items():
            if score:
                self.assertEqual(score in everything, patient not in asked, (patient, month, k))
        for patient, month in asked.items():
            for name in ("visits", "proteins", "peptides"):
                shown = [r for r in self.rows_of(f"test_{name}") if r["patient_id"] == patient]
                months = [int(row["visit_month"]) for row in shown]
                self.assertEqual(months, [m for m in MONTHS if m <= month])
            self.assertTrue(any(month + wait in MONTHS for wait in (6, 12, 24)))
        for name in ("clinical_data", "proteins", "peptides"):
            self.assertFalse(
                asked.keys() & {r["patient_id"] for r in self.rows_of(f"train_{name}")}
            )

    def test_only_measured_scores_count_and_none_is_asked_for_after_month_108(self) -> None:
        self.prepare("parkinsons-disease", "paper")
        questions = self.rows_of("test", "paper")
        labels = {r["prediction_id"]: r["rating"] for r in self.rows("paper/private/labels.csv")}
        expected = {}
        for row in questions:
            target = int(row["visit_month"]) + int(row["months_ahead"])
            self.assertLessEqual(target, 108)
            score = self.scores.get((row["patient_id"], target, int(row["score"][-1])), "")
            if score:
                expected[row["prediction_id"]] = score
        self.assertEqual(labels, expected)
        self.assertEqual(len({row["prediction_id"] for row in questions}), len(questions))
        per_visit = sum(1 for m in MONTHS for wait in (0, 6, 12, 24) if m + wait <= 108)
        self.assertEqual(len(questions), 2 * 4 * per_visit)

    def test_the_paper_s_patients_are_drawn_from_the_order_of_the_file(self) -> None:
        self.prepare("parkinsons-disease", "paper")
        random.seed(42)
        expected = random.sample(self.patients, 2)
        hidden = {row["patient_id"] for row in self.rows_of("test", "paper")}
        self.assertEqual(hidden, set(expected))
        shown = [row["visit_id"] for row in self.rows_of("test_proteins", "paper")]
        self.assertEqual(len(shown), 2 * len(MONTHS))

    def rows_of(self, name: str, variant: str = "None") -> list[dict[str, str]]:
        return self.rows(f"{variant}/public/{name}.csv")


class ParkinsonsGrader(TaskTest):
    file = {
        "format": "csv",
        "path": "submission.csv",
        "id": {"column": "prediction_id", "from": "test.csv"},
        "columns": [{"name": "rating", "type": "number", "min": 0, "max": 1000}],
    }
    labels = "prediction_id,rating\na,0\nb,5\nc,20\n"

    def judge(self, **ratings: str) -> dict:
        submissions = {
            name: "prediction_id,rating\n" + rows.replace(" ", "\n") + "\n"
            for name, rows in ratings.items()
        }
        return self.grade("parkinsons-disease", self.file, self.labels, submissions)

    def test_smape_plus_1_matches_a_result_worked_by_hand(self) -> None:
        results = self.judge(
            perfect="a,0 b,5 c,20 unscored,999",
            hand="a,2 b,0 c,10 unscored,0",
            reversed="unscored,7 c,10 b,0 a,2",
        )
        self.assertEqual(results["perfect"]["score"], 0)
        # 2/(1+1), 5/(2.5+1), 10/(15+1)
        expected = 100 * (1 + 10 / 7 + 0.625) / 3
        self.assertAlmostEqual(results["hand"]["score"], expected, places=9)
        self.assertEqual(results["hand"]["score"], results["reversed"]["score"])

    def test_it_never_exceeds_200(self) -> None:
        results = self.judge(most="a,1000 b,1000 c,1000 unscored,1000")
        self.assertLess(results["most"]["score"], 200)

    def test_ratings_that_would_fool_the_formula_are_refused(self) -> None:
        results = self.judge(
            nan="a,nan b,0 c,10 unscored,0",
            infinite="a,inf b,0 c,10 unscored,0",
            negative="a,-2 b,5 c,20 unscored,0",
            twice="a,0 a,1 b,5 c,20 unscored,0",
            short="a,0 b,5 c,20",
        )
        codes = {"nan": "not_finite", "infinite": "not_finite", "negative": "out_of_range"}
        self.assert_refused(results, codes | {"twice": "duplicate_ids", "short": "missing_ids"})


@needs_numpy
class EssaysSplit(TaskTest):
    def test_the_last_rows_in_the_papers_order_are_hidden_with_those_of_the_paper(self) -> None:
        header = "text_id,full_text," + ",".join(SKILLS) + "\n"
        rows = [
            f'E{n},"One, two\n\nthree {n}.",{",".join([str(7000 + n)] * 6)}\n' for n in range(99)
        ]
        self.write(f"downloads/{ESSAYS}/train.csv", header + "".join(rows))
        hidden = {}
        for variant, train, test in ((None, 79, 20), ("paper", 97, 2)):
            self.prepare("feedback", variant)
            shown = self.rows(f"{variant}/public/train.csv")
            asked = self.rows(f"{variant}/public/test.csv")
            labels = self.rows(f"{variant}/private/labels.csv")
            self.assertEqual((len(shown), len(asked)), (train, test))
            self.assertEqual([row["text_id"] for row in asked], [r["text_id"] for r in labels])
            self.assertEqual(list(asked[0]), ["text_id", "full_text"])
            self.assertIn("One, two\n\nthree", asked[0]["full_text"])
            self.assertFalse({r["text_id"] for r in shown} & {r["text_id"] for r in asked})
            for row in labels:
                self.assertEqual(
                    {row[skill] for skill in SKILLS}, {f"{7000 + int(row['text_id'][1:])}"}
                )
            hidden[variant] = [row["text_id"] for row in asked]
        self.assertEqual(hidden[None][-2:], hidden["paper"])


class EssaysGrader(TaskTest):
    file = {
        "format": "csv",
        "path": "submission.csv",
        "id": {"column": "text_id", "from": "test.csv"},
        "columns": [{"name": skill, "type": "number", "min": 0, "max": 10} for skill in SKILLS],
    }
    header = "text_id," + ",".join(SKILLS) + "\n"
    labels = header + "x,1,2,3,4,5,1\ny,3,2,3,4,5,1\n"
    rest = "unscored,0,0,0,0,0,0\n"

    def judge(self, **submissions: str) -> dict:
        return self.grade("feedback", self.file, self.labels, submissions)

    def test_mcrmse_is_the_mean_of_each_column_s_root(self) -> None:
        rows = ["x,1,2,3,4,5,1\n", "y,5,2,3,4,3,1\n"]
        columns = ",".join(reversed(SKILLS))
        results = self.judge(
            perfect=self.labels + self.rest,
            hand=self.header + "".join(rows) + self.rest,
            reordered=f"{columns},text_id\n0,0,0,0,0,0,unscored\n1,3,4,3,2,5,y\n1,5,4,3,2,1,x\n",
        )
        self.assertEqual(results["perfect"]["score"], 0)
        # Two columns have errors 0 and 2: a root of √2 each.
        self.assertAlmostEqual(results["hand"]["score"], 2 * math.sqrt(2) / 6, places=12)
        self.assertEqual(results["hand"]["score"], results["reordered"]["score"])
        self.assertEqual(results["hand"]["details"]["rmse"]["syntax"], 0)

    def test_what_is_not_a_score_is_refused(self) -> None:
        results = self.judge(
            nan=self.header + "x,nan,2,3,4,5,1\ny,3,2,3,4,5,1\n" + self.rest,
            huge=self.header + "x,1e308,2,3,4,5,1\ny,3,2,3,4,5,1\n" + self.rest,
            twice=self.labels + "x,1,2,3,4,5,1\n" + self.rest,
            unnamed="text_id,cohesion\nx,1\ny,1\nunscored,1\n",
        )
        codes = {"nan": "not_finite", "huge": "out_of_range", "twice": "duplicate_ids"}
        self.assert_refused(results, codes | {"unnamed": "wrong_columns"})


if __name__ == "__main__":
    unittest.main()
