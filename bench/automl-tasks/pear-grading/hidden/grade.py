"""Log loss of the class probabilities on the hidden lots."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import log_loss
from mlab_task.problems import Rejected
from mlab_task.submission import Submission

CLASSES = ["extra", "first", "second", "juice"]
arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "lot", "class")
truth = [CLASSES.index(label) for label in labels.values()]


def score(submission: Submission) -> float:
    columns = [submission.table.numbers(f"p_{name}", list(labels)) for name in CLASSES]
    try:
        return log_loss(truth, list(zip(*columns, strict=True)))
    except ValueError as error:
        raise Rejected("wrong_probabilities", str(error)) from error


grade(score, arguments)
