"""Average precision over the unscreened compounds."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
from sklearn.metrics import average_precision_score
from mlab_task.grading import grade, read_arguments, read_labels

arguments = read_arguments()
labels = read_labels(arguments.private / "activity.csv", "compound", "active")
truth = [int(label) for label in labels.values()]


def score(submission):
    return float(average_precision_score(truth, submission.table.numbers("score", list(labels))))


grade(score, arguments)
