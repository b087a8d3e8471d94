"""Scores a submitted `predict` against the starter's, on laws sampled after the submission."""

import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from laws import KINDS, System, capped_error, draw_systems

from mlab_task.answers import only_array
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker

LAWS = 100
SECONDS_PER_CALL = 10


def main() -> None:
    arguments = read_arguments()
    # Sampled only after the submission.
    seed = os.urandom(16)
    generator = np.random.default_rng(int.from_bytes(seed, "big"))

    def score(submission: Submission) -> Score:
        return score_of(submission, arguments, draw_systems(LAWS, generator), seed.hex())

    grade(score, arguments)


def score_of(
    submission: Submission, arguments: Arguments, systems: list[System], seed: str
) -> Score:
    """The mean error of the submission, and that of the starter on the same measurements."""
    errors = errors_of(submission.name, arguments, systems)
    try:
        starter_errors = errors_of(STARTER, arguments, systems)
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection
    details = {
        "seed": seed,
        "submission_errors": by_kind(systems, errors),
        "starter_errors": by_kind(systems, starter_errors),
    }
    return Score(float(np.mean(errors)), float(np.mean(starter_errors)), details)


def errors_of(name: str, arguments: Arguments, systems: list[System]) -> list[float]:
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    errors = []
    with running_worker(arguments.exchange, name) as worker:
        for system in systems:
            answer, _ = worker.call(
                "predict",
                as_raw_arrays([system.x_observed, system.y_observed, system.x_beyond]),
                {},
                seconds=SECONDS_PER_CALL,
                most_bytes=4 * system.y_beyond.nbytes,
            )
            predicted = only_array(answer, "predict", "<f8", system.y_beyond.shape)
            errors.append(capped_error(predicted, system.y_beyond))
    return errors


def by_kind(systems: list[System], errors: list[float]) -> dict[str, float]:
    """Mean error of each kind of law."""
    return {
        kind: float(
            np.mean([e for s, e in zip(systems, errors, strict=True) if s.law.kind == kind])
        )
        for kind in KINDS
    }


if __name__ == "__main__":
    main()
