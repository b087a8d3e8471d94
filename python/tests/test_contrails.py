"""Contrails: run lengths in both directions, hostile ones, the Dice of the grader, the archive."""

import io
import json
import os
import subprocess
import sys
import unittest
import zipfile

from fake_harness import Graded, run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

TASK = TASKS / "identify-contrails"
HIDDEN = TASK / "hidden"
ARCHIVE = "google-research-identify-contrails-reduce-global-warming.zip"
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "record_id", "from": "test.csv"},
    "columns": [{"name": "encoded_pixels", "type": "text"}],
}
# Columns go first: pixels 1 to 3 are the left column of a mask with three rows.
BY_HAND = {
    "-": [[0, 0], [0, 0], [0, 0]],
    "1 1": [[1, 0], [0, 0], [0, 0]],
    "2 2": [[0, 0], [1, 0], [1, 0]],
    "3 2": [[0, 1], [0, 0], [1, 0]],
    "1 1 3 1 5 2": [[1, 0], [0, 1], [1, 1]],
    "1 6": [[1, 1], [1, 1], [1, 1]],
}
HOSTILE = {
    "": "empty",
    "0 1": "starts at 0",
    "1 0": "no pixels",
    "1": "odd",
    "1 2 3": "odd",
    "-1 2": "not an integer",
    "+1 2": "not an integer",
    "1.0 2": "not an integer",
    "1e0 2": "not an integer",
    "1  2": "odd|not an integer",
    "1,2": "odd",
    "nan nan": "not an integer",
    "- -": "not an integer",
    "١ ٢": "not an integer",
    "² 1": "not an integer",
    "6 2": "ends after",
    "7 1": "ends after",
    "1 999999999999": "ends after",
    "999999999999 1": "ends after",
    "1 " + "9" * 5000: "too large",
    "1 3 3 1": "before the previous one ends",
    "1 1 1 1": "before the previous one ends",
    "4 1 1 1": "before the previous one ends",
    "1 6 " * 1000 + "1 6": "before the previous one ends",
}


@needs_numpy
class RunLengths(unittest.TestCase):
    def setUp(self) -> None:
        for folder in (HIDDEN, TASK / "env"):
            sys.path.insert(0, str(folder))
            sys.modules.pop("run_lengths", None)
            import run_lengths

            setattr(self, "hidden" if folder == HIDDEN else "given", run_lengths)
            sys.modules.pop("run_lengths", None)
            sys.path.remove(str(folder))

    def test_masks_are_numbered_down_the_columns(self) -> None:
        import numpy as np

        for text, rows in BY_HAND.items():
            with self.subTest(text):
                mask = np.array(rows, dtype=bool)
                self.assertEqual(self.given.encode(mask), text)
                self.assertEqual(self.hidden.encode_runs(mask), text)
                self.assertEqual(self.given.decode(text, 3, 2).tolist(), mask.tolist())
                self.assertEqual(self.hidden.decode_runs(text, 3, 2).tolist(), mask.tolist())
        self.assertEqual(self.hidden.decode_runs("1 2 3 1", 3, 2).sum(), 3)

    def test_encoding_and_decoding_are_inverse(self) -> None:
        import numpy as np

        for seed in range(300):
            random = np.random.default_rng(seed)
            height, width = random.integers(1, 40, 2).tolist()
            mask = random.random((height, width)) < random.choice([0, 0.01, 0.3, 0.7, 0.99, 1])
            text = self.hidden.encode_runs(mask)
            self.assertEqual(self.given.encode(mask), text, seed)
            self.assertEqual(self.given.encode(mask.astype(np.uint8) * 255), text, seed)
            again = self.hidden.decode_runs(text, height, width)
            self.assertEqual((again.dtype, again.shape), (mask.dtype, mask.shape), seed)
            self.assertTrue(np.array_equal(again, mask), seed)
            self.assertTrue(np.array_equal(self.given.decode(text, height, width), mask), seed)
            if mask.any():
                numbers = np.array(text.split(), dtype=int).reshape(-1, 2)
                self.assertEqual(numbers[:, 1].sum(), mask.sum(), seed)
                self.assertTrue((numbers[1:, 0] > numbers[:-1].sum(1)).all(), seed)

    def test_what_is_not_a_list_of_runs_is_refused_with_a_reason(self) -> None:
        for text, reason in HOSTILE.items():
            with self.subTest(text[:30]), self.assertRaisesRegex(self.hidden.BadRuns, reason):
                self.hidden.decode_runs(text, 3, 2)

    def test_dice_matches_cases_worked_by_hand(self) -> None:
        import numpy as np

        none, one, two, all_ = (np.arange(6) < count for count in (0, 1, 2, 6))
        for truth, prediction, expected in [
            (none, none, 1),
            (none, one, 1e-6 / (1 + 1e-6)),
            (one, none, 1e-6 / (1 + 1e-6)),
            (two, two, 1),
            (one, two, 2 / 3),
            (two, all_, 0.5),
            (two, ~two, 0),
        ]:
            self.assertAlmostEqual(self.hidden.dice(truth, prediction), expected, delta=2e-6)
            self.assertEqual(
                self.hidden.dice(truth, prediction), self.hidden.dice(prediction, truth)
            )


@needs_numpy
class Grader(FolderTest):
    def grade(self, **submissions: list[str]) -> Graded:
        task = {"metric": {}, "submission": {"files": [DECLARED], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        self.write("public/test.csv", "record_id\n11\n12\n13\n14\n")
        self.write("private/size.json", '{"height": 3, "width": 2}')
        self.write("private/labels.csv", "record_id,encoded_pixels\n11,-\n12,1 2\n13,2 4\n14,-\n")
        for name, masks in submissions.items():
            rows = "".join(f"{number},{text}\n" for number, text in enumerate(masks, start=11))
            self.write(f"submissions/{name}/submission.csv", "record_id,encoded_pixels\n" + rows)
        return run_grader(HIDDEN / "grade.py", self.folder)

    def test_the_mean_dice_is_shown_with_that_of_empty_masks(self) -> None:
        results = self.grade(
            empty=["-"] * 4,
            right=["-", "1 2", "2 4", "-"],
            full=["1 6"] * 4,
            half=["-", "2 2", "2 4", "6 1"],
        ).results
        expected = {"empty": 0.5, "right": 1, "full": (0.5 + 0.8) / 4, "half": (1 + 0.5 + 1) / 4}
        for name, score in expected.items():
            self.assertAlmostEqual(results[name]["score"], score, delta=1e-5)
            self.assertAlmostEqual(results[name]["baseline"], 0.5, delta=1e-5)
        self.assertEqual(results["empty"]["score"], results["empty"]["baseline"])

    def test_one_bad_mask_makes_its_submission_invalid_and_no_other(self) -> None:
        bad = {
            f"bad{number}": ["-", text, "-", "-"]
            for number, text in enumerate(HOSTILE)
            if "," not in text
        }
        results = self.grade(good=["-"] * 4, **bad, all=["0 1"] * 4).results
        self.assertTrue(results.pop("good")["valid"])
        for name, result in results.items():
            self.assertEqual([p["code"] for p in result["problems"]], ["not_allowed"], name)
            self.assertIsNone(result["score"])
        message = results["all"]["problems"][0]["message"]
        self.assertRegex(message, "4 masks are not valid run lengths: record '11': .* and 1 more")


@needs_numpy
class Archive(FolderTest):
    def prepare(self, **changes: object) -> subprocess.CompletedProcess:
        """Prepares an archive of one training and one validation record, some files replaced."""
        import numpy as np

        (self.folder / "downloads").mkdir(exist_ok=True)
        with zipfile.ZipFile(self.folder / "downloads" / ARCHIVE, "w") as archive:
            for split, record in (("train", "5"), ("validation", "71")):
                files = {
                    f"band_{band}": np.full((4, 3, 8), band, np.float32) + np.arange(8.0)
                    for band in (8, 11, 14, 15)
                }
                files = {name: array.astype(np.float32) for name, array in files.items()}
                mask = np.zeros((4, 3, 1), np.int32)
                mask[2, 1] = 1
                for name, array in {**files, "human_pixel_masks": mask, **changes}.items():
                    if array is None:
                        continue
                    content = io.BytesIO()
                    np.save(content, array, allow_pickle=True)
                    archive.writestr(f"{split}/{record}/{name}.npy", content.getvalue())
            archive.writestr("test/9/band_11.npy", b"not looked at")
            archive.writestr("../../train/6/human_pixel_masks.npy", b"not looked at")
        command = [sys.executable, "-I", "-B", str(HIDDEN / "prepare.py")]
        for name in ("downloads", "public", "private"):
            (self.folder / name).mkdir(exist_ok=True)
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_three_bands_of_the_labelled_frame_are_kept_and_test_masks_hidden(self) -> None:
        import numpy as np

        ended = self.prepare()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        public = self.folder / "public"
        files = sorted(str(f.relative_to(public)) for f in public.rglob("*") if f.is_file())
        self.assertEqual(files, ["test.csv", "test/71.npy", "train/5.npy", "train_masks/5.npy"])
        bands = np.load(public / "test/71.npy")
        self.assertEqual((bands.shape, bands.dtype), ((3, 4, 3), np.float32))
        self.assertEqual(bands[:, 0, 0].tolist(), [15, 18, 19])
        self.assertEqual(np.argwhere(np.load(public / "train_masks/5.npy")).tolist(), [[2, 1]])
        labels = (self.folder / "private/labels.csv").read_text()
        self.assertEqual(labels, "record_id,encoded_pixels\n71,7 1\n")

    def test_a_missing_value_becomes_the_median_of_its_band(self) -> None:
        import numpy as np

        band = np.full((4, 3, 8), 280, np.float32)
        band[1, 1] = np.nan
        self.assertEqual(self.prepare(band_14=band).returncode, 0)
        self.assertTrue((np.load(self.folder / "public/train/5.npy")[1] == 280).all())

    def test_what_is_not_a_record_stops_the_preparation_with_a_reason(self) -> None:
        import numpy as np

        for changes, reason in [
            ({"band_15": None}, "there is no train/5/band_15.npy"),
            ({"band_15": np.zeros((4, 3, 4), np.float32)}, "rows, columns and frames"),
            ({"band_15": np.zeros((4, 3, 8))}, "32-bit floats"),
            ({"band_15": np.zeros((5, 3, 8), np.float32)}, "different sizes"),
            ({"band_15": np.full((4, 3, 8), np.nan, np.float32)}, "no finite value"),
            ({"band_15": np.array([print], object)}, "allow_pickle"),
            ({"human_pixel_masks": np.full((4, 3, 1), 2, np.int32)}, "zeros and ones"),
            ({"human_pixel_masks": np.zeros((4, 4, 1), np.int32)}, "different sizes"),
        ]:
            with self.subTest(reason):
                self.setUp()
                ended = self.prepare(**changes)
                self.assertNotEqual(ended.returncode, 0)
                self.assertRegex(ended.stderr, reason)


if __name__ == "__main__":
    unittest.main()
