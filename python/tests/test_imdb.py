"""Film reviews: what prepare.py hides, and how the grader counts."""

import csv
import json
import os
import subprocess
import sys

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest

HIDDEN = TASKS / "imdb" / "hidden"
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "idx", "from": "test.csv"},
    "columns": [{"name": "0", "min": 0, "max": 1}, {"name": "1", "min": 0, "max": 1}],
}
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


class Preparation(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for part in ("train", "test"):
            for number in range(20):
                self.review(f"{part}/pos/{number}_{7 + number % 4}", f"{part} good, {number}")
                self.review(f"{part}/neg/{number}_{1 + number % 4}", f"{part} bad, {number}")
        self.review("train/unsup/0_0", "neither")

    def review(self, path: str, text: str) -> None:
        self.write(f"downloads/aclImdb_v1/aclImdb/{path}.txt", text)

    def prepare(self) -> None:
        for name in ("public", "private"):
            (self.folder / name).mkdir()
        command = [sys.executable, "-I", "-B", str(HIDDEN / "prepare.py")]
        for name in ("downloads", "public", "private"):
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment, cwd=self.folder)

    def read(self, path: str) -> list[dict[str, str]]:
        with (self.folder / path).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_every_review_keeps_its_label_and_loses_its_file_name(self) -> None:
        self.prepare()
        train, test = self.read("public/train.csv"), self.read("public/test.csv")
        labels = {row["idx"]: row["label"] for row in self.read("private/labels.csv")}
        self.assertEqual([row["idx"] for row in test], [str(number) for number in range(40)])
        self.assertEqual(list(test[0]), ["idx", "text"])
        self.assertEqual(len(train), 40)
        for row in train:
            self.assertEqual(row["label"], "1" if "good" in row["text"] else "0")
        for row in test:
            self.assertEqual(labels[row["idx"]], "1" if "good" in row["text"] else "0")

    def test_the_order_depends_on_the_texts_alone(self) -> None:
        self.prepare()
        before = [row["text"] for row in self.read("public/test.csv")]
        root = self.folder / "downloads" / "aclImdb_v1" / "aclImdb" / "test"
        (root / "pos").rename(root / "other")
        (root / "neg").rename(root / "pos")
        (root / "other").rename(root / "neg")
        for name in ("public", "private"):
            for file in (self.folder / name).iterdir():
                file.unlink()
            (self.folder / name).rmdir()
        self.prepare()
        self.assertEqual([row["text"] for row in self.read("public/test.csv")], before)

    def test_equal_texts_are_not_in_the_order_of_their_labels(self) -> None:
        for number in range(40):
            self.review(f"test/pos/{100 + number}_9", f"twin {number}")
            self.review(f"test/neg/{100 + number}_2", f"twin {number}")
        self.prepare()
        labels = [row["label"] for row in self.read("private/labels.csv")]
        texts = [row["text"] for row in self.read("public/test.csv")]
        firsts = [
            labels[place]
            for place in range(len(texts) - 1)
            if texts[place].startswith("twin") and texts[place] == texts[place + 1]
        ]
        self.assertEqual(len(firsts), 40)
        self.assertGreater(firsts.count("0"), 8)
        self.assertGreater(firsts.count("1"), 8)

    def test_text_with_quotes_commas_and_line_ends_is_unchanged(self) -> None:
        self.review("train/pos/99_9", ' He said "so, so"\r\nand left\x85 ')
        self.prepare()
        texts = [row["text"] for row in self.read("public/train.csv")]
        self.assertIn('He said "so, so"\nand left', [text.rstrip("\x85") for text in texts])

    def test_the_pretrained_model_is_installed_completely_or_not_at_all(self) -> None:
        for name in MODEL_FILES:
            self.write(f"downloads/distilbert-{name}", name)
        self.prepare()
        self.assertFalse((self.folder / "public" / "distilbert").exists())
        self.write("downloads/distilbert-vocab.txt", "vocab.txt")
        for name in ("public", "private"):
            (self.folder / name).rename(self.folder / f"first-{name}")
        self.prepare()
        names = {file.name for file in (self.folder / "public" / "distilbert").iterdir()}
        self.assertEqual(names, {*MODEL_FILES, "vocab.txt"})


class Grader(FolderTest):
    def grade(self, **submissions: str) -> dict[str, dict]:
        task = {"metric": {}, "submission": {"files": [DECLARED], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        self.write("public/test.csv", "idx,text\n0,a\n1,b\n2,c\n3,d\n")
        self.write("private/labels.csv", "idx,label\n0,1\n1,0\n2,1\n3,0\n")
        for name, rows in submissions.items():
            self.write(f"submissions/{name}/submission.csv", "idx,0,1\n" + rows)
        graded = run_grader(HIDDEN / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        return graded.results

    def test_the_greater_probability_counts_and_a_tie_is_wrong(self) -> None:
        results = self.grade(
            right="0,0.1,0.9\n1,0.6,0.4\n2,0,1\n3,1,0\n",
            reversed="3,1,0\n2,0,1\n1,0.6,0.4\n0,0.1,0.9\n",
            half="0,0,1\n1,0,1\n2,0,1\n3,0,1\n",
            undecided="0,0.5,0.5\n1,0.5,0.5\n2,0.5,0.5\n3,0.5,0.5\n",
        )
        scores = {name: result["score"] for name, result in results.items()}
        self.assertEqual(scores, {"right": 1, "reversed": 1, "half": 0.5, "undecided": 0})

    def test_what_is_not_a_probability_is_refused(self) -> None:
        rest = "1,0,1\n2,0,1\n3,0,1\n"
        refused = {
            "nan": ("0,nan,1\n" + rest, "not_finite"),
            "infinite": ("0,0,inf\n" + rest, "not_finite"),
            "negative": ("0,-0.5,1\n" + rest, "out_of_range"),
            "logit": ("0,0,7\n" + rest, "out_of_range"),
            "twice": ("0,0,1\n0,0,1\n" + rest, "duplicate_ids"),
            "short": (rest, "missing_ids"),
            "more": ("0,0,1\n4,0,1\n" + rest, "extra_ids"),
        }
        results = self.grade(**{name: rows for name, (rows, _) in refused.items()})
        for name, (_, code) in refused.items():
            with self.subTest(name):
                self.assertEqual([p["code"] for p in results[name]["problems"]], [code])
                self.assertIsNone(results[name]["score"])
