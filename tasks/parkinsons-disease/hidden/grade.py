"""SMAPE+1 of the forecasts with a measured score; see `smape_plus_1`."""

import math
import os
import sys
from collections.abc import Sequence

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.submission import Submission


def smape_plus_1(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """Symmetric mean absolute percentage error with 1 added to the mean of label and prediction.

    100 · mean(|p − y| / ((y + p) / 2 + 1)), as defined by the Kaggle competition: from 0 to 200
    if no number is negative.
    """
    pairs = zip(labels, predictions, strict=True)
    return 100 * math.fsum(abs(p - y) / ((y + p) / 2 + 1) for y, p in pairs) / len(labels)


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "prediction_id", "rating")
    truth = {prediction: float(label) for prediction, label in labels.items()}

    def score(submission: Submission) -> Score:
        ratings = submission.table.numbers("rating", list(truth))
        value = smape_plus_1(list(truth.values()), ratings)
        return Score(value, details={"forecasts": len(truth)})

    grade(score, arguments)


if __name__ == "__main__":
    main()
