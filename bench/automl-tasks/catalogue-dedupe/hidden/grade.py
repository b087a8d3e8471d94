"""Times a submitted `find_duplicates` beside the starter's, on catalogues drawn for every measurement."""

import os
import random
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
HIDDEN = Path(__file__).resolve().parent
sys.path[1:1] = [str(HIDDEN), str(HIDDEN / "solution"), str(HIDDEN.parent / "env")]

from catalogue import catalogue
from dedupe import find_duplicates  # the reference solution's; gives the same groups as the starter's
from mlab_task.grading import HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare

arguments = read_arguments()


def measure(name: str, draw: random.Random) -> float:
    """Seconds of one call in a fresh process, after a first, small one."""
    with running_worker(arguments.exchange, name) as worker:
        for size in (draw.randrange(20, 40), draw.randrange(225, 235)):
            records, tolerance = catalogue(size, draw), draw.choice([15, 20, 25])
            call = {"records": records, "tolerance": tolerance}
            answer, seconds = worker.call_json("find_duplicates", call, seconds=30, most_bytes=100_000)
            if answer != find_duplicates(records, tolerance):
                raise Rejected("wrong_output", "find_duplicates returned other groups than the starter would")
    return seconds


def score(submission: Submission) -> Score:
    seed = int.from_bytes(os.urandom(4), "big")
    draw = random.Random(seed)

    def measure_starter() -> float:
        try:
            return measure(STARTER, draw)
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection

    timed = compare(5, lambda: measure(submission.name, draw), measure_starter).score()
    return replace(timed, details={**timed.details, "seed": seed})


grade(score, arguments)
