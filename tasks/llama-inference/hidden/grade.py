"""Times a submitted `next_token_logits` beside the starter's, on prompts that nobody has seen."""

import json
import os
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.answers import only_array
from mlab_task.candidates import STARTER, Candidate, running_candidate
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.timing import compare

ROUNDS = 5
TIMED_CALLS = 3
BATCH, PROMPT = 4, 128
IMPORT_SECONDS = 120
# The first call of a process loads the model.
SECONDS_FIRST, SECONDS_PER_CALL = 120, 60
# Largest error by the vocabulary's size, which tells the models apart. The large one may compute in
# 16 bits: bfloat16 comes to about 0.025 in 32 layers, weights in 8 bits to more than 0.04.
TOLERANCES = {16_000: 1e-3, 32_000: 0.035}


@dataclass(frozen=True)
class Batch:
    """Prompts, and the logits that the starter gives for them."""

    tokens: np.ndarray
    logits: np.ndarray

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.logits.shape[1]]


def main() -> None:
    arguments = read_arguments()
    tokens = np.load(arguments.private / "tokens.npy", allow_pickle=False)
    lengths = json.loads((arguments.private / "lengths.json").read_text())
    lines = np.split(tokens, np.cumsum(lengths)[:-1])
    # Drawn after the submission was handed in.
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
    count = ROUNDS * (1 + TIMED_CALLS)
    drawn = [draw_prompts(lines, generator) for _ in range(count)]
    batches = answered_by_starter(arguments, drawn)
    rounds = [batches[start::ROUNDS] for start in range(ROUNDS)]
    errors: list[float] = []
    submission_rounds, starter_rounds = iter(rounds), iter(rounds)

    def measure_submission() -> float:
        return measure(submission.name, arguments, next(submission_rounds), errors)

    def measure_starter() -> float:
        with starter_at_fault():
            return measure(STARTER, arguments, next(starter_rounds), [])

    score = compare(ROUNDS, measure_submission, measure_starter).score()
    details = {"largest_error": max(errors), "tolerance": batches[0].tolerance}
    return replace(score, details={**score.details, **details})


def draw_prompts(lines: list[np.ndarray], generator: np.random.Generator) -> np.ndarray:
    """Pieces of random lines that begin anywhere, (BATCH, PROMPT)."""
    pieces = []
    for place in generator.choice(len(lines), size=BATCH, replace=False):
        start = generator.integers(len(lines[place]) - PROMPT + 1)
        pieces.append(lines[place][start : start + PROMPT])
    return np.stack(pieces)


def answered_by_starter(arguments: Arguments, drawn: list[np.ndarray]) -> list[Batch]:
    """What is right is what the starter says, in a process of its own."""
    batches = []
    with starter_at_fault(), started(STARTER, arguments) as candidate:
        for number, tokens in enumerate(drawn):
            most = SECONDS_FIRST if number == 0 else SECONDS_PER_CALL
            (raw,), _ = candidate.call(
                "next_token_logits", as_raw_arrays([tokens]), {}, seconds=most, most_bytes=10**7
            )
            if raw.shape not in [(BATCH, vocabulary) for vocabulary in TOLERANCES]:
                raise HarnessError(f"the starter answered with the shape {raw.shape}")
            batches.append(Batch(tokens, only_array((raw,), "the starter", "<f4", raw.shape)))
    return batches


def measure(name: str, arguments: Arguments, batches: list[Batch], errors: list[float]) -> float:
    """Median seconds of a call in a fresh process, after a first call that does not count."""
    with started(name, arguments) as candidate:
        first, *timed = batches
        checked_call(candidate, first, SECONDS_FIRST, errors)
        return statistics.median(
            checked_call(candidate, batch, SECONDS_PER_CALL, errors) for batch in timed
        )


def checked_call(
    candidate: Candidate, batch: Batch, most_seconds: float, errors: list[float]
) -> float:
    function = "next_token_logits"
    answer, seconds = candidate.call(
        function,
        as_raw_arrays([batch.tokens]),
        {},
        seconds=most_seconds,
        most_bytes=4 * batch.logits.nbytes,
    )
    logits = only_array(answer, function, "<f4", batch.logits.shape)
    error = relative_error(logits, batch.logits)
    # Not a number must not pass either.
    if not error <= batch.tolerance:
        message = (
            f"logits are {error:.2g} away from the original's, allowed are {batch.tolerance:g}"
        )
        raise Rejected("wrong_output", message)
    errors.append(error)
    return seconds


def relative_error(logits: np.ndarray, expected: np.ndarray) -> float:
    """Root mean squared difference, as a share of the expected logits' standard deviation."""
    with np.errstate(all="ignore"):
        difference = logits.astype("f8") - expected
        return float(np.sqrt(np.mean(difference**2)) / np.std(expected.astype("f8")))


@contextmanager
def started(name: str, arguments: Arguments) -> Iterator[Candidate]:
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    with running_candidate(arguments.exchange, name, import_seconds=IMPORT_SECONDS) as candidate:
        yield candidate


@contextmanager
def starter_at_fault() -> Iterator[None]:
    try:
        yield
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection


if __name__ == "__main__":
    main()
