"""Macro F1 of the predicted kinds of the hidden windows."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.metrics import macro_f1
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "kind")

    def score(submission: Submission) -> float:
        predictions = [str(kind) for kind in submission.table.column("kind", list(labels))]
        return macro_f1(list(labels.values()), predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
