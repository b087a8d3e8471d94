"""Times a submitted `overlaps` beside the starter's, on songs drawn for every call, and checks each result."""

import os
import random
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from birds import draw_songs
from mlab_task.grading import Score, grade, read_arguments
from mlab_task.harness import HarnessError
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.timing import compare

ROUNDS, SONGS, SECONDS_PER_CALL = 5, 20, 25
arguments = read_arguments()
seed = int.from_bytes(os.urandom(8), "big")
rng = random.Random(seed)


def common(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def checked_call(worker, songs: dict[str, str]) -> float:
    answer, seconds = worker.call_json("overlaps", {"songs": songs}, seconds=SECONDS_PER_CALL, most_bytes=1_000_000)
    expected = {name: {} for name in songs}
    names = list(songs)
    for place, a in enumerate(names):
        for b in names[place:]:
            expected[a][b] = expected[b][a] = common(songs[a], songs[b])
    if answer != expected:
        raise Rejected("wrong_output", "overlaps returned something else than the lengths for all pairs of songs")
    return seconds


def measure(name: str) -> float:
    """Seconds of one call in a fresh process, after a call with a few songs, one of them empty."""
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    with running_worker(arguments.exchange, name) as worker:
        checked_call(worker, {"silence": "", "one": "a", **draw_songs(rng, rng.randint(2, 5))})
        return checked_call(worker, draw_songs(rng, SONGS))


def measure_starter() -> float:
    try:
        return measure(STARTER)
    except Rejected as rejection:
        raise HarnessError(f"the starter failed: {rejection}") from rejection


def score(submission: Submission) -> Score:
    result = compare(ROUNDS, lambda: measure(submission.name), measure_starter).score()
    return Score(result.value, result.baseline, {**result.details, "seed": seed})


grade(score, arguments)
