"""Times a submitted `solve` against the starter's, on new random populations for every call."""

import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from population import draw_population, relative_error

from mlab_task.answers import only_array
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, SubmissionWorker, running_worker
from mlab_task.timing import compare

ROUNDS = 5
SECONDS_PER_CALL = 40
TIMED_SHAPE, TIMED_DURATION = (64, 64), 0.4
FIRST_SHAPES, FIRST_DURATIONS = (48, 73), (0.2, 0.5)
TOLERANCE = 0.03


def main() -> None:
    arguments = read_arguments()
    # Sampled only after the submission.
    seed = os.urandom(16)
    generator = np.random.default_rng(int.from_bytes(seed, "big"))

    def score(submission: Submission) -> Score:
        score = score_of(submission, arguments, generator)
        return replace(score, details={**score.details, "seed": seed.hex()})

    grade(score, arguments)


def score_of(submission: Submission, arguments: Arguments, generator: np.random.Generator) -> Score:
    errors: list[float] = []

    def measure_starter() -> float:
        try:
            return measure(STARTER, arguments, generator, [])
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection

    def measure_submission() -> float:
        return measure(submission.name, arguments, generator, errors)

    score = compare(ROUNDS, measure_submission, measure_starter).score()
    return replace(score, details={**score.details, "largest_error": max(errors)})


def measure(
    name: str, arguments: Arguments, generator: np.random.Generator, errors: list[float]
) -> float:
    """Seconds of one call in a fresh process, after a warm-up call with another shape."""
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    rows, columns = generator.integers(*FIRST_SHAPES, size=2).tolist()
    duration = float(generator.uniform(*FIRST_DURATIONS))
    with running_worker(arguments.exchange, name) as worker:
        checked_call(worker, (rows, columns), duration, generator, errors)
        return checked_call(worker, TIMED_SHAPE, TIMED_DURATION, generator, errors)


def checked_call(
    worker: SubmissionWorker,
    shape: tuple[int, int],
    duration: float,
    generator: np.random.Generator,
    errors: list[float],
) -> float:
    population = draw_population(shape, duration, generator)
    answer, seconds = worker.call(
        "solve",
        as_raw_arrays([population.density, population.diffusivity]),
        {"growth_rate": population.growth_rate, "duration": duration},
        seconds=SECONDS_PER_CALL,
        most_bytes=4 * population.expected.nbytes,
    )
    output = only_array(answer, "solve", "<f8", shape)
    error = relative_error(output, population.expected)
    # NaN must not pass either.
    if not error <= TOLERANCE:
        message = f"the error of the result is {error:.2g}; at most {TOLERANCE:g} is allowed"
        raise Rejected("wrong_output", message)
    errors.append(error)
    return seconds


if __name__ == "__main__":
    main()
