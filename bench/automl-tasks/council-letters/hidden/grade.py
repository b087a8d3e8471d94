"""Log loss of the probabilities of the hidden letters, rows divided by their sum."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import log_loss
from mlab_task.problems import Rejected
from mlab_task.submission import Submission

OFFICES = ["streets", "parks", "waste"]
LEAST = 1e-6

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "letter", "office")
truth = [OFFICES.index(office) for office in labels.values()]


def score(submission: Submission) -> float:
    columns = [submission.table.numbers(f"p_{office}", list(labels)) for office in OFFICES]
    rows = list(zip(*columns, strict=True))
    empty = sum(sum(row) <= 0 for row in rows)
    if empty:
        raise Rejected("bad_probabilities", f"submission.csv: {empty} rows whose probabilities are all 0")
    return log_loss(truth, rows, LEAST)


grade(score, arguments)
