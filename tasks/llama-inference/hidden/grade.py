"""Times a submitted `next_token_logits` against the starter's, on hidden prompts."""

import json
import os
import statistics
import sys
from dataclasses import replace

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.answers import only_array
from mlab_task.frames import RawArray, as_raw_arrays
from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare

FUNCTION = "next_token_logits"
ROUNDS = 5
TIMED_CALLS = 3
BATCH, PROMPT = 4, 128
IMPORT_SECONDS = 120
# The first call of a process loads the model.
SECONDS_FIRST, SECONDS_PER_CALL = 120, 60
MOST_BYTES = 4_000_000
# Largest error by vocabulary size, which identifies the model. The large one may compute in
# 16 bits: bfloat16 has an error of about 0.025 in 32 layers, 8-bit weights of more than 0.04.
TOLERANCES = {16_000: 1e-3, 32_000: 0.035}


def main() -> None:
    arguments = read_arguments()
    tokens = np.load(arguments.private / "tokens.npy", allow_pickle=False)
    lengths = json.loads((arguments.private / "lengths.json").read_text())
    lines = np.split(tokens, np.cumsum(lengths)[:-1])
    # Sampled only after the submission.
    seed = os.urandom(16)
    generator = np.random.default_rng(int.from_bytes(seed, "big"))

    def score(submission: Submission) -> Score:
        score = score_of(submission, arguments, lines, generator)
        return replace(score, details={**score.details, "seed": seed.hex()})

    grade(score, arguments)


def score_of(
    submission: Submission,
    arguments: Arguments,
    lines: list[np.ndarray],
    generator: np.random.Generator,
) -> Score:
    rounds = [
        [draw_prompts(lines, generator) for _ in range(1 + TIMED_CALLS)] for _ in range(ROUNDS)
    ]
    sides = Sides(submission.name, arguments, rounds)
    score = compare(ROUNDS, sides.measure_submission, sides.measure_starter).score()
    details = {"largest_error": max(sides.errors), "tolerance": sides.tolerance}
    return replace(score, details={**score.details, **details})


def draw_prompts(lines: list[np.ndarray], generator: np.random.Generator) -> np.ndarray:
    """Pieces of random lines at random offsets, (BATCH, PROMPT)."""
    pieces = []
    for place in generator.choice(len(lines), size=BATCH, replace=False):
        start = generator.integers(len(lines[place]) - PROMPT + 1)
        pieces.append(lines[place][start : start + PROMPT])
    return np.stack(pieces)


class Sides:
    """Submission and starter on the same prompts; the results of the starter are correct.

    The logits of a round are compared as soon as both have returned.
    """

    def __init__(self, name: str, arguments: Arguments, rounds: list[list[np.ndarray]]) -> None:
        self._name = name
        self._arguments = arguments
        self._rounds = rounds
        self._submitted: list[list[np.ndarray]] = []
        self._right: list[list[np.ndarray]] = []
        self.errors: list[float] = []

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self._right[0][0].shape[1]]

    def measure_submission(self) -> float:
        number = len(self._submitted)
        seconds, logits = measure(self._name, self._arguments, self._rounds[number])
        self._submitted.append(logits)
        self._compare()
        return seconds

    def measure_starter(self) -> float:
        try:
            seconds, logits = measure(STARTER, self._arguments, self._rounds[len(self._right)])
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection
        self._right.append(logits)
        self._compare()
        return seconds

    def _compare(self) -> None:
        done = len(self.errors) // (1 + TIMED_CALLS)
        for submitted, right in zip(self._submitted[done:], self._right[done:], strict=False):
            self.errors += [error_of(*pair) for pair in zip(submitted, right, strict=True)]


def measure(
    name: str, arguments: Arguments, prompts: list[np.ndarray]
) -> tuple[float, list[np.ndarray]]:
    """Median seconds of a call in a fresh process, after a warm-up call.

    Also returns the logits of all calls.
    """
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    times, logits = [], []
    with running_worker(arguments.exchange, name, import_seconds=IMPORT_SECONDS) as worker:
        for tokens in prompts:
            answer, seconds = worker.call(
                FUNCTION,
                as_raw_arrays([tokens]),
                {},
                seconds=SECONDS_PER_CALL if logits else SECONDS_FIRST,
                most_bytes=MOST_BYTES,
            )
            logits.append(logits_in(answer))
            times.append(seconds)
    return statistics.median(times[1:]), logits


def logits_in(answer: tuple[RawArray, ...]) -> np.ndarray:
    """A float32 array for one of the two models."""
    shapes = [(BATCH, vocabulary) for vocabulary in TOLERANCES]
    given = answer[0].shape if answer else ()
    return only_array(answer, FUNCTION, "<f4", given if given in shapes else shapes[0])


def error_of(logits: np.ndarray, right: np.ndarray) -> float:
    """The error, if it is within the tolerance."""
    if logits.shape != right.shape:
        raise Rejected("wrong_shape", f"{FUNCTION} returned {logits.shape}, not {right.shape}")
    error, tolerance = relative_error(logits, right), TOLERANCES[right.shape[1]]
    # NaN must not pass either.
    if not error <= tolerance:
        message = f"the error of the logits is {error:.2g}; at most {tolerance:g} is allowed"
        raise Rejected("wrong_output", message)
    return error


def relative_error(logits: np.ndarray, expected: np.ndarray) -> float:
    """Root mean squared difference, as a share of the expected logits' standard deviation."""
    with np.errstate(all="ignore"):
        difference = logits.astype("f8") - expected
        return float(np.sqrt(np.mean(difference**2)) / np.std(expected.astype("f8")))


if __name__ == "__main__":
    main()
