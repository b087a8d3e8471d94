"""Times a submitted `group_names` beside the starter's, on names drawn for every measurement."""

import os
import random
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from mlab_task.grading import HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare
from names import draw_names

arguments = read_arguments()


def normalise(name: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def near(a: str, b: str, limit: int) -> bool:
    """Whether the distance is at most the limit: only a band around the diagonal is calculated."""
    if abs(len(a) - len(b)) > limit:
        return False
    far = limit + 1
    row = {j: j for j in range(min(limit, len(b)) + 1)}
    for i, letter in enumerate(a, start=1):
        before, row = row, {}
        for j in range(max(0, i - limit), min(len(b), i + limit) + 1):
            if j == 0:
                row[0] = i
            else:
                change = before.get(j - 1, far) + (b[j - 1] != letter)
                row[j] = min(change, before.get(j, far) + 1, row.get(j - 1, far) + 1)
        if min(row.values()) > limit:
            return False
    return row.get(len(b), far) <= limit


def expected(names: list[str], limit: int) -> list[int]:
    keys = [normalise(name) for name in names]
    group = list(range(len(names)))
    for i in range(len(names)):
        for j in range(i):
            if group[i] != group[j] and near(keys[i], keys[j], limit):
                old, new = max(group[i], group[j]), min(group[i], group[j])
                group = [new if value == old else value for value in group]
    return group


def measure(name: str, draw: random.Random) -> float:
    """Seconds of one call in a fresh process, after a small one."""
    with running_worker(arguments.exchange, name) as worker:
        for count, limit in ((draw.randrange(1, 25), draw.randrange(4)), (draw.randrange(135, 145), 2)):
            call = {"names": draw_names(count, draw), "limit": limit}
            answer, seconds = worker.call_json("group_names", call, seconds=30, most_bytes=10_000)
            if answer != expected(**call):
                raise Rejected("wrong_output", f"group_names returned wrong groups for {count} names")
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
