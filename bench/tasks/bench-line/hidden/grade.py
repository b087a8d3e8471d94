"""Root mean squared error of the predicted y of the hidden rows."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "y")
    values = [float(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        return root_mean_squared_error(values, submission.table.numbers("y", list(labels)))

    grade(score, arguments)


if __name__ == "__main__":
    main()
