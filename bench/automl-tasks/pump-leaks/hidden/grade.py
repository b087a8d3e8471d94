"""Average precision of the scores of the hidden pumps."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import average_precision
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "pump", "leak")
truth = [label == "1" for label in labels.values()]


def score(submission: Submission) -> float:
    return average_precision(truth, submission.table.numbers("leak_score", list(labels)))


grade(score, arguments)
