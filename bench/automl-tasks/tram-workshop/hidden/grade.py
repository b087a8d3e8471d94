"""RMSLE on the hidden orders."""

import math
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "order", "hours")
truth = [math.log1p(float(label)) for label in labels.values()]


def score(submission: Submission) -> float:
    hours = submission.table.numbers("hours", list(labels))
    return root_mean_squared_error(truth, [math.log1p(value) for value in hours])


grade(score, arguments)
