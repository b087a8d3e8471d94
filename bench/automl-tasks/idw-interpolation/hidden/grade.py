"""Times a submitted `interpolate` beside the starter's, on inputs drawn for every call."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.answers import only_array
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import Score, grade, read_arguments
from mlab_task.harness import HarnessError
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, SubmissionWorker, running_worker
from mlab_task.timing import compare

ROUNDS = 5
TIMED = (250, 2000, 8)  # stations, places, neighbours
NEAREST = 1e-3
TOLERANCE = 1e-7

arguments = read_arguments()
SEED = int.from_bytes(os.urandom(16), "big")
rng = np.random.default_rng(SEED)


def expected_values(stations, values, places, k):
    far = np.hypot(*(places[:, None] - stations).transpose(2, 0, 1))
    order = np.argsort(far, axis=1)[:, :k]
    weights = np.maximum(np.take_along_axis(far, order, 1), NEAREST) ** -2.0
    return np.average(values[order], axis=1, weights=weights)


def checked_call(worker: SubmissionWorker, count: int, wanted: int, k: int) -> float:
    width = rng.uniform(100, 500)
    stations, values = rng.uniform(0, width, (count, 2)), rng.normal(12, 4, count)
    places = rng.uniform(0, width, (wanted, 2))
    places[0] = stations[0]  # exactly at a station
    answer, seconds = worker.call(
        "interpolate", as_raw_arrays([stations, values, places]), {"k": k}, seconds=40, most_bytes=10**7
    )
    expected = expected_values(stations, values, places, k)
    output = only_array(answer, "interpolate", "<f8", (wanted,))
    if not np.allclose(output, expected, rtol=TOLERANCE, atol=TOLERANCE):
        raise Rejected("wrong_output", "interpolate returned other values than the loops do")
    return seconds


def measure(name: str) -> float:
    """Seconds of one call in a fresh process, after two small calls of other shapes."""
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    with running_worker(arguments.exchange, name) as worker:
        few = int(rng.integers(1, 6))
        checked_call(worker, few, int(rng.integers(2, 30)), few)
        checked_call(worker, int(rng.integers(20, 120)), int(rng.integers(2, 60)), int(rng.integers(1, 12)))
        return checked_call(worker, *TIMED)


def measure_starter() -> float:
    try:
        return measure(STARTER)
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection


def score(submission: Submission) -> Score:
    found = compare(ROUNDS, lambda: measure(submission.name), measure_starter).score()
    return Score(found.value, found.baseline, {**found.details, "seed": str(SEED)})


grade(score, arguments)
