"""WAPE over all series and weeks."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import weighted_absolute_percentage_error
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "row", "units")
truth = [float(label) for label in labels.values()]


def score(submission: Submission) -> float:
    forecast = submission.table.numbers("forecast", list(labels))
    return weighted_absolute_percentage_error(truth, forecast)


grade(score, arguments)
