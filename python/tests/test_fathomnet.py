"""FathomNet: the ranking metric by hand, a split that keeps dives whole, hostile submissions."""

import csv
import importlib.util
import json
import os
import random
import subprocess
import sys
import unittest
from importlib import import_module

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

HIDDEN = TASKS / "fathomnet" / "hidden"
sys.path.insert(0, str(HIDDEN))

average_precision = import_module("average_precision").average_precision
addresses = import_module("list_images").addresses
labelled_images = import_module("labelled_images")
dives = import_module("dives")

ARCHIVE = "downloads/fathomnet-out-of-sample-detection"
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "id", "from": "test.csv"},
    "columns": [{"name": "categories", "type": "text"}, {"name": "osd", "min": 0, "max": 1}],
}


class AveragePrecision(unittest.TestCase):
    def test_matches_a_case_worked_by_hand(self) -> None:
        cases = [
            ({1}, [1], 1.0),
            ({1}, [2, 1], 1 / 2),
            ({1, 2}, [1, 2], 1.0),
            ({1, 2}, [3, 1, 2], (1 / 2 + 2 / 3) / 2),
            ({1, 2}, [1], 1 / 2),
            ({1, 2, 3, 4}, [9, 1, 8, 2], (1 / 2 + 2 / 4) / 4),
            ({1}, [], 0.0),
            ({1}, [2, 3], 0.0),
        ]
        for truth, ranking, expected in cases:
            with self.subTest(truth=truth, ranking=ranking):
                self.assertAlmostEqual(average_precision(truth, ranking), expected)

    def test_a_repeated_category_counts_once_and_takes_no_position(self) -> None:
        self.assertEqual(average_precision({1}, [1, 1, 1]), 1.0)
        self.assertEqual(average_precision({1, 2}, [1, 1, 2]), 1.0)
        self.assertEqual(average_precision({1}, [5, 5, 5, 1]), 1 / 2)

    def test_only_the_first_twenty_positions_count(self) -> None:
        wrong = list(range(100, 119))
        self.assertEqual(average_precision({1}, [*wrong, 1]), 1 / 20)
        self.assertEqual(average_precision({1}, [*wrong, 200, 1]), 0.0)
        many = set(range(30))
        self.assertEqual(average_precision(many, list(range(20))), 1.0)

    def test_stays_within_bounds_and_never_falls_when_a_correct_category_moves_up(self) -> None:
        source = random.Random(3)
        for _ in range(300):
            truth = set(source.sample(range(40), source.randint(1, 25)))
            ranking = source.sample(range(40), source.randint(2, 30))
            score = average_precision(truth, ranking)
            self.assertTrue(0 <= score <= 1)
            place = source.randrange(1, len(ranking))
            if ranking[place] in truth and ranking[place - 1] not in truth:
                ranking[place - 1 : place + 1] = reversed(ranking[place - 1 : place + 1])
                self.assertGreaterEqual(average_precision(truth, ranking), score)


def record(name: str, dive: str) -> object:
    return labelled_images.Record(
        name, f"{name}.png", f"https://fathomnet.org/{dive}/{name}.png", dive, (1,), ()
    )


class Splitting(unittest.TestCase):
    def setUp(self) -> None:
        source = random.Random(5)
        self.records = [record(f"{n}", f"dive {source.randrange(60)}") for n in range(600)]

    def test_no_dive_is_on_both_sides_and_about_a_fifth_is_hidden(self) -> None:
        train, test = dives.split(self.records, self.records, 0.02)
        self.assertFalse({r.dive for r in train} & {r.dive for r in test})
        self.assertEqual(len(train) + len(test), 600)
        self.assertTrue(90 <= len(test) <= 120)

    def test_a_few_missing_images_move_no_other_image(self) -> None:
        train, test = dives.split(self.records, self.records, 0.02)
        present = [r for r in self.records if int(r.id) % 60]
        some_train, some_test = dives.split(self.records, present, 0.02)
        self.assertEqual(some_train, [r for r in train if int(r.id) % 60])
        self.assertEqual(some_test, [r for r in test if int(r.id) % 60])

    def test_the_order_follows_neither_names_nor_dives(self) -> None:
        train, _ = dives.split(self.records, self.records, 0.02)
        self.assertNotEqual(train, sorted(train, key=lambda r: r.id))
        ahead = sum(a.dive == b.dive for a, b in zip(train, train[1:], strict=False))
        self.assertLess(ahead, 40)
        backwards = list(reversed(self.records))
        self.assertEqual(dives.split(backwards, backwards, 0.02)[0], train)

    def test_a_dive_that_would_decide_the_score_is_not_hidden(self) -> None:
        large = [record(f"large {n}", "large") for n in range(50)]
        for salt in range(20):
            small = [record(f"{n}", f"{salt} {n // 4}") for n in range(400)]
            self.assertNotIn("large", dives.choose_test_dives(small + large))

    def test_the_smallest_dive_is_hidden_if_there_are_very_few_images(self) -> None:
        few = [*(record(f"{n}", "three") for n in range(3)), record("3", "one")]
        train, test = dives.split(self.records, few, 0.02)
        self.assertEqual(
            ([r.dive for r in train], [r.dive for r in test]), (["three"] * 3, ["one"])
        )


class Sources(FolderTest):
    def write_sources(self, names: dict[str, tuple[str, str]]) -> None:
        """Images by id, with their dive and their categories as train.csv writes them."""
        rows = [f'{name},"{labels}"\n' for name, (_, labels) in names.items()]
        self.write(
            f"{ARCHIVE}/multilabel_classification/train.csv", "id,categories\n" + "".join(rows)
        )
        images = [
            {
                "id": number,
                "width": 200,
                "height": 100,
                "file_name": f"{name}.png",
                "coco_url": f"https://fathomnet.org/m3/Doc%20Ricketts/{dive}/{number}.png",
            }
            for number, (name, (dive, _)) in enumerate(names.items(), start=1)
        ]
        box = {"image_id": 1, "category_id": 7.0, "bbox": [50, 10, 100, 20]}
        coco = {"images": images, "annotations": [box]}
        self.write(f"{ARCHIVE}/object_detection/train.json", json.dumps(coco))
        key = "id,name,supercat\n7,Crab,Crabs\n1,Actiniaria,Anemone\n"
        self.write(f"{ARCHIVE}/category_key.csv", key)

    def test_records_contain_labels_boxes_and_the_dive(self) -> None:
        self.write_sources({"b": ("0012", "[7.0, 1.0, 7.0]"), "a": ("0013", "[1.0]")})
        first, second = labelled_images.read_records(self.folder / "downloads")
        self.assertEqual((first.id, first.categories, first.boxes), ("a", (1,), ()))
        self.assertEqual((second.dive, second.categories), ("/m3/Doc Ricketts/0012", (1, 7)))
        self.assertEqual(second.boxes[0].place, (0.25, 0.1, 0.5, 0.2))

    def test_an_address_is_tried_on_both_hosts(self) -> None:
        path = "/static/m3/Doc%20Ricketts/1.png"
        urls = addresses(f"https://fathomnet.org{path}")
        self.assertEqual(
            urls, [f"https://fathomnet.org{path}", f"https://database.fathomnet.org{path}"]
        )
        self.assertEqual(addresses(urls[1]), urls[::-1])

    def prepare(self) -> subprocess.CompletedProcess:
        for part in ("public", "private", "scratch"):
            (self.folder / part).mkdir()
        folders = [
            word
            for name in ("downloads", "public", "private")
            for word in (f"--{name}", str(self.folder / name))
        ]
        return subprocess.run(
            [sys.executable, "-I", "-B", str(HIDDEN / "prepare.py"), *folders],
            cwd=self.folder / "scratch",
            env={"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)},
            capture_output=True,
            text=True,
        )

    @needs_numpy
    @unittest.skipUnless(importlib.util.find_spec("PIL"), "Pillow is not installed for this Python")
    def test_prepare_works_with_the_images_that_are_available(self) -> None:
        import numpy as np
        from PIL import Image

        dive_of = {"a": "1", "b": "1", "c": "2", "d": "3"}
        self.write_sources({name: (dive, "[1.0, 7.0]") for name, dive in dive_of.items()})
        (self.folder / "downloads" / "images").mkdir()
        for shade, name in enumerate("abc"):
            image = Image.new("RGB", (30, 20), (100 * shade, 0, 0))
            image.save(self.folder / "downloads" / "images" / f"{name}.png")
        made = self.prepare()
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("note: 3 of 4 images are there; only these are used", made.stdout)
        self.assertIn("note: 1 test image(s) are too few", made.stdout)
        public = self.folder / "public"
        train, test = (np.load(public / f"{part}_images.npy") for part in ("train", "test"))
        self.assertEqual((train.shape, test.shape), ((2, 256, 256, 3), (1, 256, 256, 3)))
        self.assertEqual(sorted(train[:, 0, 0, 0].tolist()), [0, 100])
        self.assertEqual((public / "test.csv").read_text(), "id\ntest_00000\n")
        with (public / "train.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["categories"] for row in rows], ["1 7", "1 7"])
        shown = b"".join(path.read_bytes() for path in public.glob("*.csv"))
        for secret in (b"Ricketts", b".png", b"fathomnet"):
            self.assertNotIn(secret, shown)


class Grader(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        task = {"metric": {}, "submission": {"files": [DECLARED], "max_mb": 8}}
        self.write("task.json", json.dumps(task))
        self.write("public/test.csv", "id\nx\ny\n")
        key = "".join(f"{n},Animal {n},Animals\n" for n in range(1, 41))
        self.write("public/category_key.csv", "id,name,supercategory\n" + key)
        self.write("private/labels.csv", "id,categories\ny,1 2\nx,3\n")

    def submit(self, **lists: str) -> dict[str, dict]:
        """Grades submissions that give `x` this list and `y` the right one."""
        for name, categories in lists.items():
            rows = f'id,categories,osd\ny,1 2,0\nx,"{categories}",1\n'
            self.write(f"submissions/{name}/submission.csv", rows)
        graded = run_grader(HIDDEN / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        return graded.results

    def test_scores_rankings_by_id(self) -> None:
        all_of_them = " ".join(map(str, range(1, 41)))
        results = self.submit(right="3", late="5  4 3", none="", all=all_of_them)
        scores = {name: result["score"] for name, result in results.items()}
        expected = {"right": 1, "late": (1 + 1 / 3) / 2, "none": 0.5, "all": (1 + 1 / 3) / 2}
        self.assertEqual(scores, expected)

    def test_says_what_is_wrong_with_a_list(self) -> None:
        hostile = {
            "words": "crab 3",
            "fractions": "3.0 1",
            "commas": "3,1",
            "negative": "-3",
            "other_digits": "٣",
            "formula": "3 1e1",
            "huge": "9" * 5000,
            "unknown": "3 41",
            "zero": "0",
            "long": "3 " * 41,
            "very_long": "3 " * 300_000,
        }
        results = self.submit(**hostile)
        codes = {name: [p["code"] for p in r["problems"]] for name, r in results.items()}
        expected = dict.fromkeys(hostile, ["not_a_number"])
        expected |= {"unknown": ["not_allowed"], "zero": ["not_allowed"]}
        expected |= {"long": ["out_of_range"], "very_long": ["out_of_range"]}
        self.assertEqual(codes, expected)
        self.assertIn("41 (x)", results["unknown"]["problems"][0]["message"])
        self.assertIn("'crab' (x)", results["words"]["problems"][0]["message"])


if __name__ == "__main__":
    unittest.main()
