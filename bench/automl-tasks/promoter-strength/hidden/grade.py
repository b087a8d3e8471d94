"""Coefficient of determination on the hidden promoters."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.grading import grade, read_arguments, read_labels

arguments = read_arguments()
labels = read_labels(arguments.private / "measured.csv", "id", "log2")
truth = np.array([float(value) for value in labels.values()])


def score(submission):
    predicted = np.array(submission.table.numbers("log2", list(labels)))
    return float(1 - np.sum((truth - predicted) ** 2) / np.sum((truth - truth.mean()) ** 2))


grade(score, arguments)
