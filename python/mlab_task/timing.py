"""Times two pieces of code alternately, so that other load of the machine affects both alike."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from mlab_task.grading import Score

# With five times each, chance alone gets there in 2 of 252 cases.
SURELY_FASTER = 0.95


@dataclass(frozen=True)
class Comparison:
    """Seconds of each measurement, in the order in which they were taken."""

    submission: list[float]
    starter: list[float]

    @property
    def share_faster(self) -> float:
        """Share of all pairs of one time each in which the submission's is the shorter."""
        pairs = list(product(self.submission, self.starter))
        return sum(submission < starter for submission, starter in pairs) / len(pairs)

    def score(self) -> Score:
        """Median seconds of both sides.

        On a busy machine two equal programs can differ by more than a tenth: a submission that
        looks faster but is not faster in nearly all pairs gets the starter's time.
        """
        submission, starter = statistics.median(self.submission), statistics.median(self.starter)
        surely = self.share_faster >= SURELY_FASTER
        details = {
            "submission_seconds": self.submission,
            "starter_seconds": self.starter,
            "submission_median": submission,
            "share_faster": self.share_faster,
        }
        return Score(submission if surely else max(submission, starter), starter, details)


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
