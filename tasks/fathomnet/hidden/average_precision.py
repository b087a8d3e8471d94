"""MAP@20: how high the correct categories are in a ranking."""

from collections.abc import Collection, Sequence

PLACES = 20


def average_precision(truth: Collection[int], ranking: Sequence[int]) -> float:
    """AP@20 of one image, in [0, 1].

    Sum over the ranks k <= 20 that hold a correct category of the share of correct ones among the
    first k, divided by min(20, number of correct ones): the definition of the FathomNet 2023
    competition. A category that is repeated counts at its first rank only, and what follows a
    repetition moves up. An empty ranking scores 0.

    :param truth: the categories in the image, at least one
    :param ranking: the best first
    """
    right, total = 0, 0.0
    for place, category in enumerate(list(dict.fromkeys(ranking))[:PLACES], start=1):
        if category in truth:
            right += 1
            total += right / place
    return total / min(PLACES, len(set(truth)))
