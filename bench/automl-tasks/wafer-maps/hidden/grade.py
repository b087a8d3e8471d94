"""Accuracy on the hidden wafer maps."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "wafer", "pattern")
truth = [int(label) for label in labels.values()]


def score(submission: Submission) -> float:
    return accuracy(truth, submission.table.column("pattern", list(labels)))


grade(score, arguments)
