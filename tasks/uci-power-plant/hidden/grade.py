"""Root mean squared error of the predicted output in the hidden hours."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "output")
    outputs = [float(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        predictions = submission.table.numbers("output", list(labels))
        return root_mean_squared_error(outputs, predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
