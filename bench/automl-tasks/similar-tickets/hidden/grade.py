"""Times similar_pairs beside the starter's, on tickets made up for every measurement; each answer is checked."""

import os
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from texts import tickets

from mlab_task.grading import HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, SubmissionWorker, running_worker
from mlab_task.timing import compare

ROUNDS, TIMED, MARGIN = 5, 900, 1e-6
arguments = read_arguments()
rng = random.Random(int.from_bytes(os.urandom(16), "big"))


def expected_pairs(texts: list[str], threshold: float) -> list[list[int]]:
    sets = [set(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]
    pairs = []
    for i, a in enumerate(sets):
        for j in range(i + 1, len(sets)):
            b = sets[j]
            if min(len(a), len(b)) < threshold * max(len(a), len(b), 1) - MARGIN:
                continue  # even if one contained the other
            shared = len(a & b)
            if shared and shared / (len(a) + len(b) - shared) >= threshold:
                pairs.append([i, j])
    return pairs


def checked_call(worker: SubmissionWorker, texts: list[str]) -> float:
    threshold = rng.uniform(0.5, 0.75)
    answer, seconds = worker.call_json(
        "similar_pairs", {"texts": texts, "threshold": threshold}, seconds=40, most_bytes=10_000_000
    )
    if answer != expected_pairs(texts, threshold):
        raise Rejected("wrong_output", "similar_pairs returned other pairs than the original does")
    return seconds


def measure(name: str) -> float:
    """Seconds of one call in a fresh process, after a call with few tickets."""
    few = [*tickets(rng, rng.randint(30, 90)), "", "!?", "one", "One."]
    rng.shuffle(few)
    with running_worker(arguments.exchange, name) as worker:
        checked_call(worker, few)
        return checked_call(worker, tickets(rng, TIMED))


def measure_starter() -> float:
    try:
        return measure(STARTER)
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection


def score(submission: Submission) -> Score:
    return compare(ROUNDS, lambda: measure(submission.name), measure_starter).score()


grade(score, arguments)
