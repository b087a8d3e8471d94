"""Share of hidden reviews whose class has the higher probability. A tie is wrong."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission

UNDECIDED = -1


def choose(negative: float, positive: float) -> int:
    """The class with the higher probability, or UNDECIDED."""
    if negative == positive:
        return UNDECIDED
    return 1 if positive > negative else 0


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "idx", "label")
    classes = [int(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        columns = (submission.table.numbers(name, list(labels)) for name in ("0", "1"))
        return accuracy(classes, [choose(*pair) for pair in zip(*columns, strict=True)])

    grade(score, arguments)


if __name__ == "__main__":
    main()
