"""Balanced accuracy: the mean over the faults of the share that was recognised."""

import os
import sys
from collections import Counter

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.submission import Submission

arguments = read_arguments()
labels = read_labels(arguments.private / "labels.csv", "log_id", "fault")
sizes = Counter(labels.values())


def score(submission: Submission) -> Score:
    predictions = submission.table.column("fault", list(labels))
    hits = Counter(t for t, p in zip(labels.values(), predictions, strict=True) if t == p)
    recall = {fault: hits[fault] / size for fault, size in sorted(sizes.items())}
    return Score(sum(recall.values()) / len(recall), details={"recall": recall})


grade(score, arguments)
