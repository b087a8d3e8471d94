"""Accuracy in percent on the hidden tiles."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "tile", "condition")


def score(submission):
    return 100 * accuracy(list(labels.values()), submission.table.column("condition", list(labels)))


grade(score, arguments)
