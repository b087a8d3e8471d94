"""Macro F1 of the hidden behaviours."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import macro_f1
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "behaviour.csv", "window", "behaviour")


def score(submission: Submission) -> float:
    return macro_f1(list(labels.values()), submission.table.column("behaviour", list(labels)))


grade(score, arguments)
