"""The laws of physical-law, and its grader against good, bad and hostile submissions."""

import json
import sys
import unittest

from fake_harness import Graded, run_grader
from grader_copy import copy_grader
from support import TASKS, FolderTest, needs_numpy

TASK = TASKS / "physical-law"
STARTER = (TASK / "env" / "train.py").read_text()

LOGARITHMS = """
import numpy as np
def predict(x_train, y_train, x_test):
    design = np.column_stack([np.ones(len(x_train)), np.log(x_train)])
    powers = np.linalg.lstsq(design, np.log(y_train), rcond=None)[0]
    return np.exp(np.column_stack([np.ones(len(x_test)), np.log(x_test)]) @ powers)
"""
ONES = (
    "import numpy as np\ndef predict(x_train, y_train, x_test):\n    return np.ones(len(x_test))\n"
)
ACCEPTED_AS_WRONG = {
    "nan": ONES.replace("np.ones(len(x_test))", "np.full(len(x_test), np.nan)"),
    "infinite": ONES.replace("np.ones(len(x_test))", "np.full(len(x_test), -np.inf)"),
    "huge": ONES.replace("np.ones(len(x_test))", "np.full(len(x_test), 1e308)"),
    "zero": ONES.replace("np.ones", "np.zeros"),
    "negative": ONES.replace("np.ones(len(x_test))", "np.full(len(x_test), -1e-9)"),
}
REFUSED = {
    "other-type": (ONES.replace("len(x_test))", "len(x_test), 'f4')"), "wrong_output"),
    "column": (ONES.replace("len(x_test))", "(len(x_test), 1))"), "wrong_shape"),
    "too-few": (ONES.replace("len(x_test))", "len(x_test) - 1)"), "wrong_shape"),
    "too-many": (ONES.replace("len(x_test))", "10**6)"), "wrong_output"),
    "none": ("def predict(*a): return None", "wrong_output"),
    "raises": ("def predict(*a): raise ValueError('no')", "crashed"),
    "exits": ("import os\ndef predict(*a): os._exit(0)", "crashed"),
    "sleeps": ("import time\ndef predict(*a): time.sleep(60)", "timed_out"),
    "no-function": ("predicted = 1", "missing_function"),
}


@needs_numpy
class Laws(unittest.TestCase):
    def setUp(self) -> None:
        sys.path.insert(0, str(TASK / "hidden"))
        self.addCleanup(sys.path.remove, str(TASK / "hidden"))

    def test_a_law_evaluates_its_formula(self) -> None:
        import numpy as np
        from laws import KINDS, draw_law

        generator = np.random.default_rng(7)
        for kind in KINDS * 20:
            law = draw_law(kind, generator)
            x = np.exp(generator.uniform(-1, 1, (5, len(law.units)))) * law.units
            names = {f"x{place + 1}": x[:, place] for place in range(x.shape[1])}
            with self.subTest(law.text()):
                value = eval(law.text().replace("^", "**"), {"exp": np.exp}, names)
                np.testing.assert_allclose(law(x), value, rtol=0.02)

    def test_kinds_are_equally_frequent_and_regimes_are_separate(self) -> None:
        from collections import Counter

        import numpy as np
        from laws import KINDS, draw_systems

        systems = draw_systems(40, np.random.default_rng(8))
        self.assertEqual(Counter(s.law.kind for s in systems), dict.fromkeys(KINDS, 10))
        for system in systems:
            self.assertTrue((system.x_observed.max(axis=0) <= 3 * system.law.units).all())
            self.assertTrue((system.x_beyond.min(axis=0) >= 3 * system.law.units).all())
            self.assertTrue((system.y_beyond > 0).all() and np.isfinite(system.y_beyond).all())
            noise = np.log(system.y_observed / system.law(system.x_observed))
            self.assertTrue(0.015 < noise.std() < 0.05)

    def test_an_error_is_relative_and_capped(self) -> None:
        import numpy as np
        from laws import capped_error

        truth = np.array([2.0, 4.0, 1.0, 1.0])
        # 0.5, 0.25, capped, not finite.
        self.assertEqual(capped_error(np.array([1.0, 5.0, 9.0, np.nan]), truth), 2.75 / 4)
        self.assertEqual(capped_error(truth, truth), 0)


@needs_numpy
class Grader(FolderTest):
    def grade(self, **submissions: str) -> Graded:
        declared = {"format": "python", "path": "train.py", "defines": ["predict"]}
        task = {"metric": {}, "submission": {"files": [declared], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        for name, source in submissions.items():
            self.write(f"submissions/{name}/train.py", source)
        quicker = {"LAWS = 100": "LAWS = 20", "SECONDS_PER_CALL = 10": "SECONDS_PER_CALL = 3"}
        grader = copy_grader("physical-law", self.folder, quicker)
        return run_grader(grader, self.folder, starter=TASK / "env")

    def test_the_starter_scores_its_baseline_and_a_better_submission_scores_better(self) -> None:
        graded = self.grade(starter=STARTER, logarithms=LOGARITHMS)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        starter, better = graded.results["starter"], graded.results["logarithms"]
        self.assertEqual(starter["score"], starter["baseline"])
        self.assertLess(better["score"], 0.7 * better["baseline"])
        self.assertLess(better["details"]["submission_errors"]["power"], 0.1)
        # Every submission gets different laws.
        self.assertNotEqual(starter["baseline"], better["baseline"])

    def test_invalid_numbers_have_the_largest_error(self) -> None:
        graded = self.grade(**ACCEPTED_AS_WRONG)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for name, result in graded.results.items():
            with self.subTest(name):
                self.assertEqual((result["valid"], result["score"]), (True, 1), result)

    def test_what_fails_is_refused(self) -> None:
        graded = self.grade(**{name: source for name, (source, _) in REFUSED.items()})
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for name, (_, code) in REFUSED.items():
            with self.subTest(name):
                result = graded.results[name]
                self.assertEqual([p["code"] for p in result["problems"]], [code], result)


@needs_numpy
class Preparation(FolderTest):
    def test_examples_are_the_same_every_time(self) -> None:
        import os
        import subprocess

        from support import HELPERS

        for name in ("one", "two"):
            arguments = []
            for part in ("downloads", "public", "private"):
                (self.folder / name / part).mkdir(parents=True)
                arguments += [f"--{part}", str(self.folder / name / part)]
            script = str(TASK / "hidden" / "prepare.py")
            environment = {**os.environ, "MLAB_HELPERS": str(HELPERS)}
            subprocess.run([sys.executable, "-IB", script, *arguments], env=environment, check=True)
        one, two = (
            {f.name: f.read_bytes() for f in (self.folder / name / "public").iterdir()}
            for name in ("one", "two")
        )
        self.assertEqual(one, two)
        self.assertEqual(len(one), 2 * 32 + 1)


if __name__ == "__main__":
    unittest.main()
