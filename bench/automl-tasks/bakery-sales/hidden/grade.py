"""sMAPE of the forecast, with the function of env/metric.py."""

import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from metric import smape

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "row", "sold")
truth = [float(label) for label in labels.values()]


def score(submission: Submission) -> float:
    return smape(truth, submission.table.numbers("sold", list(labels)))


grade(score, arguments)
