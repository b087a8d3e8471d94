"""Share of hidden images whose digit was predicted correctly."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import accuracy
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "digit")
    digits = [int(label) for label in labels.values()]

    def score(submission: Submission) -> float:
        return accuracy(digits, submission.table.column("digit", list(labels)))

    grade(score, arguments)


if __name__ == "__main__":
    main()
