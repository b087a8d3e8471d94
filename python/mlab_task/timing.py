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


# A busy machine moves the median of five by more than a tenth: so near, more rounds are taken.
CLOSE = 0.6


def compare(
    rounds: int,
    measure_submission: Callable[[], float],
    measure_starter: Callable[[], float],
    most_rounds: int | None = None,
) -> Comparison:
    """Measures both in turn, one at a time; who goes first changes from round to round.

    The submission goes first at the start, so that one that fails costs no more time.

    :param most_rounds: so many are taken while the submission is faster, and by little (its median
        lies between CLOSE and 1 times the starter's): noise must not pass for an improvement
    """
    comparison = Comparison([], [])
    for number in range(most_rounds or rounds):
        if number >= rounds and not _is_close(comparison):
            break
        if number % 2 == 0:
            comparison.submission.append(measure_submission())
            comparison.starter.append(measure_starter())
        else:
            comparison.starter.append(measure_starter())
            comparison.submission.append(measure_submission())
    return comparison


def _is_close(comparison: Comparison) -> bool:
    return CLOSE < comparison.submission_median / comparison.starter_median < 1
