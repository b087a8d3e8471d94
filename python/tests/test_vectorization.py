"""The vectorization grader against honest, broken and cheating submissions."""

import json
import unittest
from pathlib import Path

from fake_harness import Graded, run_grader
from support import TASKS, FolderTest, needs_numpy

TASK = TASKS / "vectorization"
STARTER = (TASK / "env" / "train.py").read_text()
SOLUTION = (TASK / "hidden" / "solution" / "train.py").read_text()

ZEROS = """
import numpy as np
def convolve(images, kernels, stride, padding):
    batch, height, width, _ = images.shape
    return np.zeros((batch, (height + 1) // 2 + 1, (width + 1) // 2 + 1, 8))
"""

PATCHED_CLOCK = (
    STARTER
    + """
time.perf_counter = time.monotonic = time.time = lambda: 0.0
"""
)
PATCHED_COMPARISON = (
    ZEROS
    + """
np.allclose = np.array_equal = lambda *args, **kwargs: True
"""
)
PLANTED_RESULT = (
    ZEROS
    + """
import os, sys
result = '{"results": [{"submission": "cheat", "valid": true, "score": 0.0, "problems": []}]}'
print(result, flush=True)
for folder in (".", "/tmp", "../../exchange", "../../private"):
    try:
        with open(os.path.join(folder, "grader_result.json"), "w") as file:
            file.write(result)
    except OSError:
        pass
for number in range(3, 20):
    try:
        os.write(number, b"")
    except OSError:
        pass
"""
)
MEMOISED = (
    SOLUTION
    + """
slow, known = convolve, {}
def convolve(images, kernels, stride, padding):
    if images.shape not in known:
        known[images.shape] = slow(images, kernels, stride, padding)
    return known[images.shape]
convolve(np.ones((4, 24, 24, 3)), np.ones((3, 3, 3, 8)), 2, 2)
"""
)
NO_RELU = SOLUTION.replace("return np.maximum(output, 0, out=output)", "return output")
SINGLE_PRECISION = (
    SOLUTION.replace("def main", "double = convolve\ndef main")
    + """
def convolve(images, kernels, stride, padding):
    return double(images.astype("f4"), kernels.astype("f4"), stride, padding).astype("f8")
"""
)
HALF_THE_TYPE = SINGLE_PRECISION.replace('.astype("f8")', "")
WRONG_SHAPE = (
    SOLUTION
    + """
full = convolve
def convolve(images, kernels, stride, padding):
    return full(images, kernels, stride, padding)[:, 1:]
"""
)
LAZY = (
    SOLUTION
    + """
eager = convolve
class Lazy(np.ndarray):
    def tobytes(self, *args):
        import time
        time.sleep(0.5)
        return np.asarray(self).tobytes()
def convolve(images, kernels, stride, padding):
    return eager(images, kernels, stride, padding).view(Lazy)
"""
)
OBJECTS = (
    SOLUTION
    + """
numbers = convolve
def convolve(images, kernels, stride, padding):
    return numbers(images, kernels, stride, padding).astype(object)
"""
)
FORGED_ANSWER = (
    ZEROS
    + """
import gc, socket
(connection,) = [thing for thing in gc.get_objects() if isinstance(thing, socket.socket)]
connection.sendall(b'{"kind": "result", "score": 0}' * 100)
"""
)
FAKE_READY = """
import gc, json, os, socket
(connection,) = [thing for thing in gc.get_objects() if isinstance(thing, socket.socket)]
header = json.dumps({"kind": "result", "values": {"id": "x"}, "arrays": []}).encode()
ready = json.dumps({"kind": "ready", "values": {}, "arrays": []}).encode()
for text in (ready, header):
    connection.sendall(len(text).to_bytes(8, "big") + text)
import time
time.sleep(60)
def convolve(images, kernels, stride, padding): ...
"""
BUSY_AFTERWARDS = (
    SOLUTION
    + """
import threading
def spin():
    while True:
        sum(range(1000))
answer = convolve
def convolve(images, kernels, stride, padding):
    output = answer(images, kernels, stride, padding)
    for _ in range(4):
        threading.Thread(target=spin).start()
    return output
"""
)

REFUSED = {
    "exits-at-import": ("import os\nos._exit(0)\ndef convolve(): ...", "crashed"),
    "exits": ("import os\ndef convolve(*a, **k): os._exit(0)", "crashed"),
    "asks-to-exit": ("import sys\ndef convolve(*a, **k): sys.exit(0)", "crashed"),
    "raises": ("def convolve(*a, **k): raise ValueError('no')", "crashed"),
    "patches-comparison": (PATCHED_COMPARISON, "wrong_output"),
    "plants-result": (PLANTED_RESULT, "wrong_output"),
    "memoises": (MEMOISED, "wrong_output"),
    "no-relu": (NO_RELU, "wrong_output"),
    "single-precision": (SINGLE_PRECISION, "wrong_output"),
    "other-type": (HALF_THE_TYPE, "wrong_output"),
    "wrong-shape": (WRONG_SHAPE, "wrong_shape"),
    "objects": (OBJECTS, "wrong_output"),
    "no-array": ("def convolve(*a, **k): return 0.0", "wrong_output"),
    "forges-answer": (FORGED_ANSWER, "wrong_output"),
    "fakes-ready": (FAKE_READY, "wrong_output"),
    "no-function": ("convolved = 1", "missing_function"),
    "no-python": ("def convolve(:", "unreadable"),
}


@needs_numpy
class Vectorization(FolderTest):
    def grade(self, starter: Path = TASK / "env", **submissions: str) -> Graded:
        declared = {"format": "python", "path": "train.py", "defines": ["convolve"]}
        task = {"metric": {}, "submission": {"files": [declared], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        for name, source in submissions.items():
            self.write(f"submissions/{name}/train.py", source)
        return run_grader(self.quick_grader(), self.folder, starter=starter)

    def quick_grader(self) -> Path:
        """The task's grader, with one round on a small batch."""
        script = (TASK / "hidden" / "grade.py").read_text()
        for usual, quick in [("ROUNDS = 5", "ROUNDS = 1"), ("(32, 64, 64, 3)", "(4, 24, 24, 3)")]:
            self.assertIn(usual, script)
            script = script.replace(usual, quick)
        return self.write("grade.py", script)

    def test_a_submission_that_fails_or_cheats_is_refused(self) -> None:
        graded = self.grade(**{name: source for name, (source, _) in REFUSED.items()})
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for name, (_, code) in REFUSED.items():
            with self.subTest(name):
                result = graded.results[name]
                self.assertEqual([p["code"] for p in result["problems"]], [code], result)
                self.assertFalse(result["valid"])
                self.assertIsNone(result["score"])

    def test_the_right_answer_is_timed_outside_the_submitted_code(self) -> None:
        graded = self.grade(solution=SOLUTION, clock=PATCHED_CLOCK, lazy=LAZY, busy=BUSY_AFTERWARDS)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        results = graded.results
        self.assertTrue(all(result["valid"] for result in results.values()), results)
        # A stopped clock would give 0; a lazy answer would leave out the half second that it takes.
        self.assertGreater(results["clock"]["score"], 0)
        self.assertGreater(results["lazy"]["score"], 0.5)

    def test_only_one_side_is_ever_alive(self) -> None:
        requests = self.grade(solution=SOLUTION).requests
        self.assertEqual(
            [request["message"] for request in requests],
            ["start_worker", "stop_worker"] * 2,
        )
        self.assertEqual(
            [request.get("submission") for request in requests],
            ["solution", None, "starter", None],
        )

    def test_a_starter_that_cannot_start_is_the_fault_of_the_harness(self) -> None:
        starter = self.write("starter/train.py", "import nothing").parent
        graded = self.grade(starter, solution=SOLUTION)
        self.assertNotEqual(graded.exit_code, 0)
        self.assertIn("the starter failed", graded.errors)


if __name__ == "__main__":
    unittest.main()
