"""Share of hidden passengers whose outcome was predicted correctly."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "PassengerId", "Transported")

    def score(submission: Submission) -> float:
        predictions = submission.table.column("Transported", list(labels))
        return accuracy(list(labels.values()), predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
