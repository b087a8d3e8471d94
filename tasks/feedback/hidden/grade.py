"""MCRMSE of the six predicted scores on the hidden essays."""

import math
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.metrics import root_mean_squared_error
from mlab_task.submission import Submission

SCORES = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")


def main() -> None:
    arguments = read_arguments()
    labels = {
        column: read_labels(arguments.private / "labels.csv", "text_id", column)
        for column in SCORES
    }

    def score(submission: Submission) -> Score:
        errors = {
            column: root_mean_squared_error(
                [float(label) for label in labels[column].values()],
                submission.table.numbers(column, list(labels[column])),
            )
            for column in SCORES
        }
        mean = math.fsum(errors.values()) / len(errors)
        return Score(mean, details={"rmse": errors})

    grade(score, arguments)


if __name__ == "__main__":
    main()
