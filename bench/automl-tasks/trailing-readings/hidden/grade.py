"""Times trailing_stats beside the starter's on fresh readings, and checks every answer."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.answers import only_array
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import grade, read_arguments
from mlab_task.harness import HarnessError
from mlab_task.problems import Rejected
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare

ROUNDS, WINDOW, ROWS, SENSORS = 5, 900, 1500, 12
arguments = read_arguments()
seed = int.from_bytes(os.urandom(8), "big")
rng = np.random.default_rng(seed)


def expected(sensor, second, value, window):
    out = np.full((len(sensor), 3), np.nan)
    for i in range(len(sensor)):
        near = (sensor == sensor[i]) & (second <= second[i]) & (second >= second[i] - window)
        good = value[near & ~np.isnan(value)]
        out[i, 0] = len(good)
        if len(good):
            out[i, 1:] = good.mean(), good.std()
    return out


def call(worker, rows, sensors, span, window):
    sensor, second = rng.integers(0, sensors, rows), np.sort(rng.integers(0, span, rows))
    value = rng.uniform(-30, 30) + rng.uniform(1, 5) * rng.standard_normal(rows)
    value[rng.random(rows) < rng.uniform(0.02, 0.3)] = np.nan
    right = expected(sensor, second, value, window)
    answer, seconds = worker.call("trailing_stats", as_raw_arrays([sensor, second, value]), {"window": window},
                                  seconds=60, most_bytes=4 * right.nbytes + 1000)
    got = only_array(answer, "trailing_stats", "<f8", right.shape)
    if not np.allclose(got, right, rtol=1e-6, atol=1e-6, equal_nan=True):
        raise Rejected("wrong_output", "trailing_stats returned other values than the loop does")
    return seconds


def measure(name):
    with running_worker(arguments.exchange, name) as worker:
        call(worker, int(rng.integers(20, 60)), 3, int(rng.integers(15, 90)), int(rng.integers(1, 40)))
        return call(worker, ROWS, SENSORS, 7200, WINDOW)


def measure_starter():
    try:
        return measure(STARTER)
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection


def score(submission):
    result = compare(ROUNDS, lambda: measure(submission.name), measure_starter).score()
    result.details["seed"] = seed
    return result


grade(score, arguments)
