"""Share of the hidden recordings whose technique is named correctly."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "recording", "technique")


def score(submission: Submission) -> float:
    return accuracy(list(labels.values()), submission.table.column("technique", list(labels)))


grade(score, arguments)
