"""Times a submitted `build_features` beside the starter's, on readings drawn for every measurement."""

import os
import sys
from dataclasses import replace

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.answers import only_array
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare

arguments = read_arguments()
READINGS = 800


def draw_batch(rng, n):
    meters = int(rng.integers(max(1, n // 30), n // 12 + 2))
    cells = rng.choice(meters * 10080, n, replace=False)
    meter, minute = cells // 10080, cells % 10080
    kwh = np.round(rng.gamma(2, 0.4, n) * (1 + 0.4 * np.sin(minute / 1440 * 2 * np.pi)), 3)
    return meter.astype("<i8"), minute.astype("<i8"), kwh.astype("<f8"), int(rng.integers(300, 1500))


def expected(meter, minute, kwh, window):
    """Meter by meter, with small matrices."""
    out = np.empty((len(meter), 4))
    out[:, 3] = np.searchsorted(np.sort(kwh), kwh) / len(kwh)
    for each in np.unique(meter):
        rows = np.flatnonzero(meter == each)
        rows = rows[np.argsort(minute[rows])]
        t, v = minute[rows], kwh[rows]
        out[rows, 0] = np.r_[-1, np.diff(t)]
        near = (t[None] < t[:, None]) & (t[None] >= t[:, None] - window)
        many = near.sum(1)
        out[rows, 1] = np.where(many > 0, near @ v / np.maximum(many, 1), -1)
        out[rows, 2] = np.maximum.accumulate(v)
    return out


def measure(name: str, rng: np.random.Generator) -> float:
    """Seconds of one call in a fresh process, after a first, small one."""
    with running_worker(arguments.exchange, name) as worker:
        for size in (int(rng.integers(20, 60)), READINGS):
            *arrays, window = draw_batch(rng, size)
            truth = expected(*arrays, window)
            answer, seconds = worker.call(
                "build_features", as_raw_arrays(arrays), {"window": window}, seconds=60, most_bytes=4 * truth.nbytes
            )
            output = only_array(answer, "build_features", "<f8", truth.shape)
            if not np.allclose(output, truth, rtol=1e-8, atol=1e-8):
                raise Rejected("wrong_output", "build_features returned other values than the original does")
    return seconds


def score(submission: Submission) -> Score:
    seed = int.from_bytes(os.urandom(4), "big")
    rng = np.random.default_rng(seed)

    def measure_starter() -> float:
        try:
            return measure(STARTER, rng)
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection

    timed = compare(5, lambda: measure(submission.name, rng), measure_starter).score()
    return replace(timed, details={**timed.details, "seed": seed})


grade(score, arguments)
