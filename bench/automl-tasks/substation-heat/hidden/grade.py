"""Pinball loss of three quantiles, in per cent of each station's usual daily heat."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.submission import Submission

QUANTILES = {"q10": 0.1, "q50": 0.5, "q90": 0.9}

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "id", "heat_kwh")
scales = read_labels(arguments.private / "scales.csv", "station", "scale")
ids = list(labels)
truth = np.array([float(value) for value in labels.values()])
scale = np.array([float(scales[id.split("_")[0]]) for id in ids])


def score(submission: Submission) -> Score:
    losses = {}
    for column, level in QUANTILES.items():
        error = (truth - np.array(submission.table.numbers(column, ids))) / scale
        losses[column] = float(np.mean(np.maximum(level * error, (level - 1) * error)) * 100)
    return Score(sum(losses.values()) / len(losses), details=losses)


grade(score, arguments)
