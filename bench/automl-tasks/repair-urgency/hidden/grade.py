"""Spearman's rank correlation with the caretakers' urgencies; ties get their mean rank."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from scipy.stats import rankdata

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "msg", "urgency")


def centred_ranks(values):
    ranks = rankdata([float(value) for value in values])
    return ranks - ranks.mean()


truth = centred_ranks(labels.values())


def score(submission: Submission) -> float:
    ranks = centred_ranks(submission.table.numbers("urgency", list(labels)))
    size = float((ranks @ ranks) * (truth @ truth)) ** 0.5
    return float(ranks @ truth) / size if size > 0 else 0.0


grade(score, arguments)
