"""Times two pieces of code alternately, so that other load of the machine affects both alike."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from mlab_task.grading import Score

# With five times each, chance alone gets there in 2 of 252 cases.
SURE = 0.95


@dataclass(frozen=True)
class Comparison:
    """Seconds of each measurement, in the order in which they were taken."""

    submission: list[float]
    starter: list[float]

    @property
    def share_faster(self) -> float:
        """Share of all pairs of one time each in which the submission's is the shorter."""
        return share_shorter(self.submission, self.starter)

    def score(self) -> Score:
        """Median seconds of both sides.

        On a busy machine two equal programs can differ by more than a tenth: a submission that is
        neither faster nor slower in nearly all pairs gets the starter's time.
        """
        submission, starter = statistics.median(self.submission), statistics.median(self.starter)
        share_slower = share_shorter(self.starter, self.submission)
        is_sure = max(self.share_faster, share_slower) >= SURE
        details = {
            "submission_seconds": self.submission,
            "starter_seconds": self.starter,
            "submission_median": submission,
            "share_faster": self.share_faster,
        }
        return Score(submission if is_sure else starter, starter, details)


def share_shorter(some: list[float], others: list[float]) -> float:
    """Share of all pairs of a time of each in which that of the first is the shorter."""
    pairs = list(product(some, others))
    return sum(one < other for one, other in pairs) / len(pairs)


def compare(
    rounds: int, measure_submission: Callable[[], float], measure_starter: Callable[[], float]
) -> Comparison:
    """Measures both in turn, one at a time; who goes first changes from round to round.

    The submission goes first at the start, so that one that fails costs no more time.
    """
    comparison = Comparison([], [])
    for number in range(rounds):
        if number % 2 == 0:
            comparison.submission.append(measure_submission())
            comparison.starter.append(measure_starter())
        else:
            comparison.starter.append(measure_starter())
            comparison.submission.append(measure_submission())
    return comparison
