"""Quadratic weighted kappa of the submitted levels, with the function of env/kappa.py."""

import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from kappa import quadratic_weighted_kappa

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "report", "level")


def score(submission: Submission) -> float:
    guesses = submission.table.numbers("level", list(labels))
    return quadratic_weighted_kappa(list(labels.values()), guesses)


grade(score, arguments)
