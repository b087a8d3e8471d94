"""Log loss of submitted probabilities."""

import io
import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.problems import Rejected
from mlab_task.submission import Submission

PLANTS = ["birch", "grass", "hazel", "pine", "ragweed"]
arguments = read_arguments()
labels = read_labels(arguments.private / "plants.csv", "picture", "plant")
truth = np.array([PLANTS.index(labels[name]) for name in sorted(labels)])


def read(content: bytes) -> np.ndarray:
    shape = (len(truth), len(PLANTS))
    try:
        file = io.BytesIO(content)
        version = np.lib.format.read_magic(file)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        stated, _, dtype = read_header[version](file)
    except (ValueError, KeyError) as error:
        raise Rejected("wrong_format", f"probabilities.npy is not in the format npy: {error}") from error
    if stated != shape or dtype.kind != "f":
        raise Rejected("wrong_format", f"expected floats of shape {shape}, found {dtype} of shape {stated}")
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False).astype(float)
    except ValueError as error:
        raise Rejected("wrong_format", f"probabilities.npy cannot be read: {error}") from error
    if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
        raise Rejected("wrong_values", "probabilities must be between 0 and 1")
    if np.abs(array.sum(axis=1) - 1).max() > 0.001:
        raise Rejected("wrong_values", "every row must sum to 1")
    return array


def score(submission: Submission) -> Score:
    array = read(submission.read("probabilities.npy"))
    losses = -np.log(np.clip(array[np.arange(len(truth)), truth], 1e-6, 1))
    return Score(float(losses.mean()), details={"accuracy": float((array.argmax(axis=1) == truth).mean())})


grade(score, arguments)
