"""Times a submitted `largest_drawdowns` beside the starter's, on ledgers drawn for every measurement."""

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

BOOKINGS, ACCOUNTS = 6_000, 200
arguments = read_arguments()


def expected(accounts: np.ndarray, days: np.ndarray, cents: np.ndarray, n_accounts: int) -> np.ndarray:
    balance, high, worst = [0] * n_accounts, [0] * n_accounts, [0] * n_accounts
    for at in np.argsort(days, kind="stable"):
        account = accounts[at]
        balance[account] += int(cents[at])
        high[account] = max(high[account], balance[account])
        worst[account] = max(worst[account], high[account] - balance[account])
    return np.array(worst, dtype=np.int64)


def measure(name: str, draw: np.random.Generator) -> float:
    """Seconds of one call in a fresh process, after a first, small one."""
    small = (int(draw.integers(30, 200)), int(draw.integers(5, 40)))
    with running_worker(arguments.exchange, name) as worker:
        for bookings, n_accounts in (small, (BOOKINGS, ACCOUNTS)):
            ledger = [
                draw.integers(0, n_accounts, bookings),
                draw.integers(0, 365, bookings),
                draw.integers(-50_000, 52_000, bookings),
            ]
            right = expected(*ledger, n_accounts)
            answer, seconds = worker.call(
                "largest_drawdowns",
                as_raw_arrays(ledger),
                {"n_accounts": n_accounts},
                seconds=100,
                most_bytes=4 * right.nbytes + 1_000,
            )
            output = only_array(answer, "largest_drawdowns", right.dtype.str, right.shape)
            if not np.array_equal(output, right):
                raise Rejected("wrong_output", "largest_drawdowns returned other values than the loops do")
    return seconds


def score(submission: Submission) -> Score:
    seed = int.from_bytes(os.urandom(8), "big")
    draw = np.random.default_rng(seed)

    def measure_starter() -> float:
        try:
            return measure(STARTER, draw)
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection

    timed = compare(5, lambda: measure(submission.name, draw), measure_starter).score()
    return replace(timed, details={**timed.details, "seed": str(seed)})


grade(score, arguments)
