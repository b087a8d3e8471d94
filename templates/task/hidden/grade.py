"""Root mean squared error of the predicted values of the hidden rows."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission

TARGET = "target"


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", TARGET)
    values = [float(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        predictions = submission.table.numbers(TARGET, list(labels))
        return root_mean_squared_error(values, predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
