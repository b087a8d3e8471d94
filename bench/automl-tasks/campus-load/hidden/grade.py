"""WAPE in per cent over the hidden weeks."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import weighted_absolute_percentage_error

arguments = read_arguments()
actual = read_labels(arguments.private / "actual.csv", "row_id", "kwh")


def score(submission):
    forecast = submission.table.numbers("kwh", list(actual))
    return 100 * weighted_absolute_percentage_error([float(value) for value in actual.values()], forecast)


grade(score, arguments)
