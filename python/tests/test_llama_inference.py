"""The llama-inference grader with a substitute for the model, its preparation, and its sample."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from fake_harness import Graded, run_grader
from grader_copy import copy_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

TASK = TASKS / "llama-inference"
needs_tokenizers = unittest.skipUnless(
    all(importlib.util.find_spec(name) for name in ("tokenizers", "safetensors", "numpy")),
    "tokenizers or safetensors is not installed for this Python",
)

MODEL = """
import time
import numpy as np
VOCABULARY = 16_000
TABLE = np.random.default_rng(0).standard_normal((50, VOCABULARY))
def next_token_logits(tokens):
    logits = np.stack([TABLE[row].mean(axis=0) + TABLE[row[-1]] for row in tokens])
    return logits.astype("f4")
"""
STARTER = MODEL.replace("    return", "    time.sleep(0.05)\n    return")
RESULT = 'return logits.astype("f4")'


def returning(expression: str, before: str = "") -> str:
    return before + MODEL.replace(RESULT, f"return {expression}")


ACCEPTED = {
    "same": MODEL,
    "rounded": returning("(logits * (1 + 5e-4)).astype('f4')"),
}
REFUSED = {
    "half-precision": (returning("(logits + 2e-3 * logits.std()).astype('f4')"), "wrong_output"),
    "one-prompt-wrong": (returning("logits[[0, 1, 2, 2]].astype('f4')"), "wrong_output"),
    "zeros": (returning("np.zeros_like(logits, dtype='f4')"), "wrong_output"),
    "nan": (returning("np.full_like(logits, np.nan, dtype='f4')"), "wrong_output"),
    "infinite": (returning("np.full_like(logits, np.inf, dtype='f4')"), "wrong_output"),
    "double": (returning("logits"), "wrong_output"),
    "half-type": (returning("logits.astype('f2')"), "wrong_output"),
    "fewer-tokens": (returning("logits[:, :100].astype('f4')"), "wrong_shape"),
    "large-models-shape": (returning("np.tile(logits, 2).astype('f4')"), "wrong_shape"),
    "too-much": (returning("np.tile(logits, 100).astype('f4')"), "wrong_output"),
    "remembered": (
        returning("KNOWN.setdefault(tokens.shape, logits.astype('f4'))", "KNOWN = {}\n"),
        "wrong_output",
    ),
    "last-token-alone": (MODEL.replace("TABLE[row].mean(axis=0) + ", ""), "wrong_output"),
    "exits": ("import os\ndef next_token_logits(tokens): os._exit(0)", "crashed"),
    "no-function": ("logits = 1", "missing_function"),
}


@needs_numpy
class Grader(FolderTest):
    def grade(self, starter_source: str = STARTER, **submissions: str) -> Graded:
        import numpy as np

        declared = {"format": "python", "path": "train.py", "defines": ["next_token_logits"]}
        task = {"metric": {}, "submission": {"files": [declared], "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        lengths = [128, 150, 200, 128, 140]
        tokens = np.random.default_rng(1).integers(50, size=sum(lengths))
        np.save(self.folder / "private" / "tokens.npy", tokens)
        self.write("private/lengths.json", json.dumps(lengths))
        for name, source in submissions.items():
            self.write(f"submissions/{name}/train.py", source)
        starter = self.write("starter/train.py", starter_source).parent
        grader = copy_grader("llama-inference", self.folder, {"ROUNDS = 5": "ROUNDS = 2"})
        return run_grader(grader, self.folder, starter=starter)

    def test_the_same_logits_are_accepted_and_timed_together_with_the_starter(self) -> None:
        graded = self.grade(**ACCEPTED)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for result in graded.results.values():
            self.assertTrue(result["valid"], result)
            self.assertGreater(result["baseline"], 0.05)
            self.assertEqual(result["details"]["tolerance"], 1e-3)
        self.assertLess(graded.results["same"]["details"]["largest_error"], 1e-6)
        self.assertGreater(graded.results["rounded"]["details"]["largest_error"], 4e-4)
        requested = [r["submission"] for r in graded.requests if r["message"] == "start_worker"]
        self.assertEqual(requested[:4], ["rounded", "starter", "starter", "rounded"])

    def test_other_logits_are_refused(self) -> None:
        graded = self.grade(**{name: source for name, (source, _) in REFUSED.items()})
        self.assertEqual(graded.exit_code, 0, graded.errors)
        for name, (_, code) in REFUSED.items():
            with self.subTest(name):
                result = graded.results[name]
                self.assertEqual([p["code"] for p in result["problems"]], [code], result)

    def test_a_large_model_may_be_less_exact(self) -> None:
        large = MODEL.replace("16_000", "32_000")
        noise = "np.random.default_rng(3).standard_normal(logits.shape) * logits.std()"
        half, eight_bits = (
            large.replace(RESULT, f"return (logits + {size} * {noise}).astype('f4')")
            for size in (0.025, 0.045)
        )
        graded = self.grade(large, half=half, eight=eight_bits)
        self.assertTrue(graded.results["half"]["valid"], graded.results)
        self.assertFalse(graded.results["eight"]["valid"], graded.results)

    def test_a_failing_starter_is_the_fault_of_the_harness(self) -> None:
        for broken in ("import nothing", MODEL.replace("16_000", "100")):
            with self.subTest(broken):
                self.setUp()
                graded = self.grade(broken, same=MODEL)
                self.assertNotEqual(graded.exit_code, 0)
                self.assertIn("the starter", graded.errors)


class Preparation(FolderTest):
    def run_hidden(self, script: str, *arguments: str) -> None:
        environment = {**os.environ, "MLAB_HELPERS": str(HELPERS)}
        command = [sys.executable, "-IB", str(TASK / "hidden" / script), *arguments]
        subprocess.run(command, env=environment, check=True)

    def sample(self, place: str, seed: int) -> Path:
        folder = self.folder / place / "downloads"
        folder.mkdir(parents=True)
        self.run_hidden("sample.py", "--downloads", str(folder), "--seed", str(seed))
        return folder

    def test_a_sample_depends_only_on_its_seed(self) -> None:
        path = "wikitext-2-raw-v1/wikitext-2-raw/wiki.test.raw"
        places = (("a", 1), ("b", 1), ("c", 2))
        one, same, other = ((self.sample(p, s) / path).read_text() for p, s in places)
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    @needs_tokenizers
    def test_shown_and_hidden_lines_are_disjoint_and_the_same_every_time(self) -> None:
        import numpy as np

        contents = []
        for place in ("a", "b"):
            arguments = ["--downloads", str(self.sample(place, 1))]
            for part in ("public", "private"):
                folder = self.folder / place / part
                folder.mkdir()
                arguments += [f"--{part}", str(folder)]
            self.run_hidden("prepare.py", *arguments)
            files = [f for f in (self.folder / place).glob("p*/*") if f.is_file()]
            contents.append({f.name: f.read_bytes() for f in files})
        self.assertEqual(*contents)

        prompts = np.load(self.folder / "a/public/prompts.npy")
        tokens = np.load(self.folder / "a/private/tokens.npy")
        lengths = json.loads((self.folder / "a/private/lengths.json").read_text())
        self.assertEqual((prompts.shape[1], tokens.size), (128, sum(lengths)))
        self.assertGreater(min(lengths), 127)
        self.assertGreater(len(lengths), 100)
        windows = np.lib.stride_tricks.sliding_window_view(tokens, 32)
        for prompt in prompts[:5]:
            self.assertFalse((windows == prompt[:32]).all(axis=1).any())


if __name__ == "__main__":
    unittest.main()
