"""The exact solution of pde-solver, and its grader against right, rough and wrong solvers."""

import json
import math
import sys
import unittest
from pathlib import Path

from fake_harness import Graded, run_grader
from grader_copy import copy_grader
from support import TASKS, FolderTest, needs_numpy

TASK = TASKS / "pde-solver"
SOLUTION = (TASK / "hidden" / "solution" / "train.py").read_text()

LARGER_STEPS = SOLUTION.replace("SAFETY = 0.5", "SAFETY = 0.9")
ROUGH = SOLUTION.replace("SAFETY = 0.5", "SAFETY = 30.0")
UNCHANGED = "def solve(density, diffusivity, growth_rate, duration):\n    return density\n"
NO_SPREADING = """
import numpy as np
def solve(density, diffusivity, growth_rate, duration):
    growth = np.exp(growth_rate * duration)
    return density * growth / (1 + density * (growth - 1))
"""
MEAN = NO_SPREADING.replace(
    "return ", "density = np.full_like(density, density.mean())\n    return "
)
NOT_A_NUMBER = UNCHANGED.replace("return density", "return density * float('nan')")
HUGE = UNCHANGED.replace("return density", "return density * 1e308")
SINGLE = UNCHANGED.replace("return density", "return density.astype('f4')")
TRANSPOSED = UNCHANGED.replace("return density", "return density[:-1]")
HONEST_ONCE = (
    SOLUTION
    + """
honest, calls = solve, []
def solve(density, diffusivity, growth_rate, duration):
    calls.append(1)
    return honest(density, diffusivity, growth_rate, duration) if len(calls) == 1 else density
"""
)

REFUSED = {
    "rough": (ROUGH, "wrong_output"),
    "unchanged": (UNCHANGED, "wrong_output"),
    "no-spreading": (NO_SPREADING, "wrong_output"),
    "mean": (MEAN, "wrong_output"),
    "not-a-number": (NOT_A_NUMBER, "wrong_output"),
    "huge": (HUGE, "wrong_output"),
    "single-precision": (SINGLE, "wrong_output"),
    "another-shape": (TRANSPOSED, "wrong_shape"),
    "honest-once": (HONEST_ONCE, "wrong_output"),
    "exits": ("import os\ndef solve(*a, **k): os._exit(0)", "crashed"),
    "no-function": ("solved = 1", "missing_function"),
}


@needs_numpy
class ExactSolution(unittest.TestCase):
    def setUp(self) -> None:
        sys.path.insert(0, str(TASK / "hidden"))
        self.addCleanup(sys.path.remove, str(TASK / "hidden"))

    def test_a_level_population_grows_by_the_logistic_function(self) -> None:
        import numpy as np
        from population import solve_exactly

        level, diffusivity = np.full((16, 16), 0.2), np.full((16, 16), 0.01)
        grown = solve_exactly(level, diffusivity, 2.0, 0.5)
        # u = u0 e^(rt) / (1 + u0 (e^(rt) - 1)) with u0 = 0.2, rt = 1.
        expected = 0.2 * math.e / (1 + 0.2 * (math.e - 1))
        np.testing.assert_allclose(grown, expected, rtol=1e-6)

    def test_without_growth_a_wave_decays_by_its_diffusivity(self) -> None:
        import numpy as np
        from population import solve_exactly

        wave = np.sin(2 * np.pi * (np.arange(16)[:, None] + 2 * np.arange(16)[None, :]) / 16)
        spread = solve_exactly(wave, np.full((16, 16), 0.01), 0.0, 0.3)
        # The squared wave number is (2 pi)^2 (1^2 + 2^2).
        decay = math.exp(-0.01 * 0.3 * (2 * math.pi) ** 2 * 5)
        np.testing.assert_allclose(spread, decay * wave, atol=1e-6)

    def test_fields_are_the_same_functions_on_every_grid_and_keep_their_limits(self) -> None:
        import numpy as np
        from population import draw_waves, field, resample

        waves = draw_waves(3, np.random.default_rng(5))
        fine, coarse = field(waves, 64, 64, (0.05, 0.6)), field(waves, 32, 16, (0.05, 0.6))
        np.testing.assert_allclose(coarse, fine[::2, ::4], atol=1e-12)
        np.testing.assert_allclose(resample(fine, (32, 16)), coarse, atol=1e-12)
        np.testing.assert_allclose([fine.min(), fine.max()], [0.05, 0.6])

    def test_the_exact_solution_does_not_depend_on_its_grid(self) -> None:
        import numpy as np
        from population import draw_waves, field, solve_exactly

        generator = np.random.default_rng(6)
        density, diffusivity = draw_waves(3, generator), draw_waves(2, generator)
        usual, finer = (
            solve_exactly(
                field(density, points, points, (0.05, 0.6)),
                field(diffusivity, points, points, (0.002, 0.01)),
                *(3.0, 0.1),
            )
            for points in (64, 96)
        )
        np.testing.assert_allclose(usual[::2, ::2], finer[::3, ::3], atol=1e-5)


@needs_numpy
class Grader(FolderTest):
    def grade(self, starter: Path | None = None, **submissions: str) -> Graded:
        declared = {"format": "python", "path": "train.py", "defines": ["solve"]}
        task = {"metric": {}, "submission": {"files": [declared], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        for name, source in {**submissions, "-": SOLUTION}.items():
            place = "starter" if name == "-" else f"submissions/{name}"
            self.write(f"{place}/train.py", source)
        quicker = {"ROUNDS = 5": "ROUNDS = 1", "(64, 64), 0.4": "(56, 56), 0.2"}
        grader = copy_grader("pde-solver", self.folder, quicker)
        return run_grader(grader, self.folder, starter=starter or self.folder / "starter")

    def test_solvers_that_are_wrong_are_refused(self) -> None:
        graded = self.grade(**{name: source for name, (source, _) in REFUSED.items()})
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for name, (_, code) in REFUSED.items():
            with self.subTest(name):
                result = graded.results[name]
                self.assertEqual([p["code"] for p in result["problems"]], [code], result)

    def test_every_accurate_method_is_accepted(self) -> None:
        graded = self.grade(same=SOLUTION, larger=LARGER_STEPS)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for result in graded.results.values():
            self.assertTrue(result["valid"], result)
            self.assertLess(result["details"]["largest_error"], 0.025)
            self.assertRegex(result["details"]["seed"], "^[0-9a-f]{32}$")

    def test_a_starter_that_cannot_start_is_the_fault_of_the_harness(self) -> None:
        starter = self.write("broken/train.py", "import nothing").parent
        graded = self.grade(starter, solution=SOLUTION)
        self.assertNotEqual(graded.exit_code, 0)
        self.assertIn("the starter failed", graded.errors)


if __name__ == "__main__":
    unittest.main()
