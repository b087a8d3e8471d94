"""Root mean squared error of the predicted solubilities of the hidden molecules."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "log_solubility")
    solubilities = [float(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        predictions = submission.table.numbers("log_solubility", list(labels))
        return root_mean_squared_error(solubilities, predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
