"""Log loss of the probabilities of abuse, clipped as the problem says."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import log_loss

LEAST = 1e-6
arguments = read_arguments()
outcomes = read_labels(arguments.private / "labels.csv", "claim_no", "abusive")
truth = [int(value) for value in outcomes.values()]


def score(submission):
    p = [min(max(value, LEAST), 1 - LEAST) for value in submission.table.numbers("p_abusive", list(outcomes))]
    return log_loss(truth, [[1 - value, value] for value in p], LEAST / 2)


grade(score, arguments)
