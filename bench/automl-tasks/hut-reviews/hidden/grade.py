"""Quadratic weighted kappa between submitted and true stars."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "id", "stars")
truth = [int(label) for label in labels.values()]


def quadratic_weighted_kappa(truth: list[int], answers: list[int]) -> float:
    """1 for equal lists, 0 for answers without relation to the truth, such as a constant."""
    n = len(truth)
    seen = sum((t - a) ** 2 for t, a in zip(truth, answers)) / n
    expected = sum(
        (t - a) ** 2 * truth.count(t) * answers.count(a) for t in range(1, 6) for a in range(1, 6)
    ) / n**2
    return 1 - seen / expected


def score(submission: Submission) -> float:
    answers = [int(value) for value in submission.table.numbers("stars", list(labels))]
    return quadratic_weighted_kappa(truth, answers)


grade(score, arguments)
