"""Share of hidden pictures with a wrong species."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "image", "species")


def error_rate(submission: Submission) -> float:
    predicted = submission.table.column("species", list(labels))
    return 1 - accuracy(list(labels.values()), predicted)


grade(error_rate, arguments)
