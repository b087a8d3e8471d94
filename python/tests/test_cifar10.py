"""CIFAR-10: its files are read without trusting them, and the largest of ten numbers is judged."""

import json
import os
import pickle
import struct
import subprocess
import sys
import unittest

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

HIDDEN = TASKS / "cifar10" / "hidden"
COLUMNS = [str(number) for number in range(10)]
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "index", "from": "test.csv"},
    "columns": [{"name": name} for name in COLUMNS],
}


def original_batch(pixels: bytes, labels: list[int], kind: bytes = b"u1") -> bytes:
    """A batch as Python 2 and an old numpy wrote it, opcode by opcode, for rows of 3072 bytes."""
    shape = b"K" + bytes([len(pixels) // 3072]) + b"M\x00\x0c\x86"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    type_ = b"cnumpy\ndtype\nU\x02" + kind + b"K\x00K\x01\x87R(K\x03U\x01|NNN"
    type_ += b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    content = b"T" + struct.pack("<I", len(pixels)) + pixels
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    state = b"(K\x01" + shape + type_ + b"\x89" + content + b"tb"
    return b"\x80\x02}(U\x04data" + array + state + b"U\x06labels" + listed + b"u."


class Planted:
    """Runs a command when an ordinary unpickler reads it."""

    def __init__(self, function: object, *values: object) -> None:
        self.call = function, values

    def __reduce__(self) -> tuple:
        return self.call


@needs_numpy
class Batches(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        sys.path.insert(0, str(HIDDEN))
        self.addCleanup(sys.path.remove, str(HIDDEN))
        import batches

        self.batches = batches

    def refused(self, content: bytes) -> str:
        with self.assertRaises(self.batches.BadBatch) as caught:
            self.batches.read_batch(self.write("batch", content))
        return str(caught.exception)

    def test_files_written_by_python_2_are_read(self) -> None:
        red, green, blue = b"\x01" * 1024, b"\x02" * 1023 + b"\xc8", b"\x03" * 1024
        file = self.write("batch", original_batch(red + green + blue + b"\x07" * 3072, [6, 9]))
        batch = self.batches.read_batch(file)
        self.assertEqual(batch.images.shape, (2, 32, 32, 3))
        self.assertEqual(batch.images[0, 0, 0].tolist(), [1, 2, 3])
        self.assertEqual(batch.images[0, 31, 31].tolist(), [1, 200, 3])
        self.assertEqual(batch.labels.tolist(), [6, 9])

    def test_what_is_written_can_be_read_again(self) -> None:
        import numpy as np

        random = np.random.default_rng(3)
        images = random.integers(0, 256, (5, 32, 32, 3)).astype(np.uint8)
        labels = np.array([0, 9, 4, 4, 1], np.uint8)
        file = self.folder / "batch"
        self.batches.write_batch(file, self.batches.Batch(images, labels))
        again = self.batches.read_batch(file)
        self.assertTrue(np.array_equal(again.images, images))
        self.assertEqual(again.labels.tolist(), labels.tolist())
        names = [f"class{number}" for number in range(10)]
        self.batches.write_class_names(file, names, 5)
        self.assertEqual(self.batches.read_class_names(file), names)

    def test_nothing_in_a_pickle_is_run(self) -> None:
        mark = self.folder / "mark"
        for name, planted in {
            "os.mkdir": Planted(os.mkdir, str(mark)),
            "eval": Planted(eval, f"open({str(mark)!r}, 'w')"),
            "subprocess": Planted(subprocess.call, ["touch", str(mark)]),
        }.items():
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with self.subTest(name, protocol=protocol):
                    message = self.refused(pickle.dumps({b"data": planted}, protocol))
                    self.assertIn("asks for", message)
        self.assertFalse(mark.exists())

    def test_arrays_of_anything_but_bytes_are_refused(self) -> None:
        for kind in (b"O8", b"i1", b"f8"):
            with self.subTest(kind):
                self.assertIn("hold bytes", self.refused(original_batch(bytes(3072), [1], kind)))

    def test_what_does_not_fit_is_refused(self) -> None:
        whole = original_batch(bytes(2 * 3072), [1, 2])
        for content, reason in [
            (whole.replace(b"K\x02M\x00\x0c\x86", b"K\x03M\x00\x0c\x86"), "shape"),
            (original_batch(bytes(3072), [1, 2]), "one label"),
            (original_batch(bytes(3072), [10]), "from 0 to 9"),
            (whole[:-200], "UnpicklingError"),
            (b"", "EOFError"),
            (pickle.dumps([1, 2], 2), "no dictionary"),
            (pickle.dumps({b"data": b"x", b"labels": [1]}, 2), "asks for|not a table"),
            (b"\x80\x02U\x01xQ.", "outside"),
        ]:
            with self.subTest(reason):
                self.assertRegex(self.refused(content), reason)

    def test_prepared_data_contains_no_label_of_a_test_picture(self) -> None:
        source = "downloads/cifar-10-python/cifar-10-batches-py"
        for number in range(1, 6):
            self.write(f"{source}/data_batch_{number}", original_batch(bytes(3072), [number]))
        self.write(f"{source}/test_batch", original_batch(b"\x09" * 2 * 3072, [8, 3]))
        self.batches.write_class_names(self.folder / source / "batches.meta", COLUMNS, 1)
        command = [sys.executable, "-I", "-B", str(HIDDEN / "prepare.py")]
        for name in ("downloads", "public", "private"):
            (self.folder / name).mkdir(exist_ok=True)
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment)

        import numpy as np

        public = self.folder / "public"
        self.assertEqual(
            sorted(file.name for file in public.iterdir()),
            ["class_names.txt", "test.csv", "test_images.npy", "train_images.npy"]
            + ["train_labels.npy"],
        )
        self.assertEqual(np.load(public / "train_labels.npy").tolist(), [1, 2, 3, 4, 5])
        self.assertEqual(np.load(public / "test_images.npy").shape, (2, 32, 32, 3))
        self.assertEqual((public / "test.csv").read_text(), "index\n0\n1\n")
        labels = (self.folder / "private/labels.csv").read_text()
        self.assertEqual(labels, "index,label\n0,8\n1,3\n")


class Grader(FolderTest):
    def grade(self, **submissions: str) -> dict[str, dict]:
        task = {"metric": {}, "submission": {"files": [DECLARED], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        self.write("public/test.csv", "index\n0\n1\n2\n3\n")
        self.write("private/labels.csv", "index,label\n0,0\n1,9\n2,3\n3,3\n")
        for name, content in submissions.items():
            self.write(f"submissions/{name}/submission.csv", content)
        return run_grader(HIDDEN / "grade.py", self.folder).results

    def table(self, *rows: list[object]) -> str:
        lines = [["index", *COLUMNS], *([index, *row] for index, row in enumerate(rows))]
        return "\n".join(",".join(map(str, line)) for line in lines)

    def test_the_largest_number_counts_and_the_first_one_of_a_tie(self) -> None:
        first, last, third = ([0] * k + [1] + [0] * (9 - k) for k in (0, 9, 3))
        ordered = self.table(first, last, third, third)
        header, *rows = ordered.splitlines()
        results = self.grade(
            right=ordered,
            reordered="\n".join([header, *reversed(rows)]),
            equal=self.table(*[[0.1] * 10] * 4),
            logits=self.table(
                [5e300, *[-1e300] * 9],
                [*[-7] * 9, -6.5],
                [-9] * 3 + [9] * 7,
                [0, 0, 0, 1e-300, *[0] * 6],
            ),
            wrong=self.table(*[[0] * 8 + [1, 0]] * 4),
        )
        scores = {name: result["score"] for name, result in results.items()}
        expected = {"right": 1, "reordered": 1, "equal": 0.25, "logits": 1, "wrong": 0}
        self.assertEqual(scores, expected)

    def test_what_is_not_a_table_of_numbers_is_refused(self) -> None:
        row = [0.1] * 10
        good = self.table(row, row, row, row)
        results = self.grade(
            nan=good.replace("0.1", "NaN"),
            infinite=good.replace("0.1", "-inf"),
            huge=good.replace("0.1", "1e999"),
            few=self.table(row, row),
            repeated=good.replace("\n3,", "\n2,"),
            extra=good + "\n4" + ",0" * 10,
            narrow=good.replace(",9\n", "\n"),
            empty="",
            pickled="\x80\x04\x95",
        )
        codes = {name: {p["code"] for p in r["problems"]} for name, r in results.items()}
        self.assertEqual(
            codes,
            {
                "nan": {"not_finite"},
                "infinite": {"not_finite"},
                "huge": {"not_finite"},
                "few": {"missing_ids"},
                "repeated": {"missing_ids", "duplicate_ids"},
                "extra": {"extra_ids"},
                "narrow": {"wrong_columns"},
                "empty": {"unreadable"},
                "pickled": {"wrong_columns"},
            },
        )
        self.assertFalse(any(result["valid"] for result in results.values()))


if __name__ == "__main__":
    unittest.main()
