"""Mean of the two mean absolute errors, each divided by that of the hidden median."""

import os
import sys
from statistics import median

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.metrics import mean_absolute_error
from mlab_task.submission import Submission

TARGETS = {"minutes": "minutes_expected", "parts_eur": "parts_expected"}
arguments = read_arguments()
truth = {
    target: {key: float(value) for key, value in read_labels(arguments.private / "labels.csv", "visit", target).items()}
    for target in TARGETS
}


def score(submission: Submission) -> Score:
    relative = {}
    for target, column in TARGETS.items():
        labels = list(truth[target].values())
        error = mean_absolute_error(labels, submission.table.numbers(column, list(truth[target])))
        relative[target] = error / mean_absolute_error(labels, [median(labels)] * len(labels))
    return Score(sum(relative.values()) / len(relative), details=relative)


grade(score, arguments)
