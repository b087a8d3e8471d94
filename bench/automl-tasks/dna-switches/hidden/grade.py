"""Area under the ROC curve on the hidden sequences."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import roc_auc
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "name", "active")
truth = [label == "1" for label in labels.values()]


def score(submission: Submission) -> float:
    return roc_auc(truth, submission.table.numbers("score", list(labels)))


grade(score, arguments)
