"""Root mean squared logarithmic error of the submitted minutes."""

import math
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "outage", "minutes")
truth = [math.log1p(float(label)) for label in labels.values()]


def score(submission: Submission) -> float:
    predictions = submission.table.numbers("minutes", list(labels))  # not negative: see task.yaml
    return root_mean_squared_error(truth, [math.log1p(value) for value in predictions])


grade(score, arguments)
