"""Times two pieces of code side by side, so that a machine's moods touch both alike."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Seconds of each measurement, in the order in which they were taken."""

    submission: list[float]
    starter: list[float]

    @property
    def submission_median(self) -> float:
        return statistics.median(self.submission)

    @property
    def starter_median(self) -> float:
        return statistics.median(self.starter)


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
