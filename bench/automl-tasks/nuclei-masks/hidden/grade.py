"""Mean over the hidden pictures of intersection over union of the nuclei's pixels."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.problems import Rejected
from mlab_task.submission import Submission

PIXELS = 40 * 40


def decode(text: str) -> np.ndarray:
    words = text.split()
    if len(words) % 2 or len(words) > 2 * PIXELS:
        raise ValueError("pairs of start and length expected")
    mask = np.zeros(PIXELS, bool)
    for start, length in zip(words[::2], words[1::2]):
        if not (start.isascii() and start.isdigit() and length.isascii() and length.isdigit()):
            raise ValueError(f"not whole numbers: {start[:20]!r} {length[:20]!r}")
        if len(start) > 5 or len(length) > 5 or int(start) < 1 or int(start) + int(length) - 1 > PIXELS:
            raise ValueError(f"outside the picture: {start[:20]} {length[:20]}")
        mask[int(start) - 1 : int(start) - 1 + int(length)] = True
    return mask


arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "image", "runs")
ids = list(labels)
truth = [decode(labels[id]) for id in ids]


def score(submission: Submission) -> Score:
    overlaps = []
    for id, true, text in zip(ids, truth, submission.table.column("runs", ids)):
        try:
            mask = decode(text)
        except ValueError as problem:
            raise Rejected("wrong_output", f"runs of picture {id}: {problem}") from problem
        overlaps.append((mask & true).sum() / (mask | true).sum())
    return Score(float(np.mean(overlaps)), details={"worst": float(np.min(overlaps))})


grade(score, arguments)
