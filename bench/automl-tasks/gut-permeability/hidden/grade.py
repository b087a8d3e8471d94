"""Mean absolute error of log Papp on the hidden compounds."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import mean_absolute_error
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "name", "log_papp")
truth = [float(label) for label in labels.values()]


def score(submission: Submission) -> float:
    return mean_absolute_error(truth, submission.table.numbers("log_papp", list(labels)))


grade(score, arguments)
