"""Mean absolute error of the predicted prices on the hidden houses."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import mean_absolute_error
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "Id", "SalePrice")
    prices = [float(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        return mean_absolute_error(prices, submission.table.numbers("SalePrice", list(labels)))

    grade(score, arguments)


if __name__ == "__main__":
    main()
