"""RMSE of the flash points of the hidden compounds, in degrees."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "compound", "flash_point_c")
truth = [float(label) for label in labels.values()]


def score(submission: Submission) -> float:
    return root_mean_squared_error(truth, submission.table.numbers("predicted", list(labels)))


grade(score, arguments)
