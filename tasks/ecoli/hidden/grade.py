"""Balanced accuracy of the predicted sites of the hidden proteins."""

import os
import sys
from collections import Counter
from collections.abc import Sequence

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission


def balanced_accuracy(labels: Sequence[str], predictions: Sequence[str]) -> float:
    """Mean recall over the classes, from 0 to 1."""
    members = Counter(labels)
    pairs = zip(labels, predictions, strict=True)
    hits = Counter(label for label, prediction in pairs if label == prediction)
    return sum(hits[name] / members[name] for name in sorted(members)) / len(members)


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "site")

    def score(submission: Submission) -> float:
        predictions = [str(site) for site in submission.table.column("site", list(labels))]
        return balanced_accuracy(list(labels.values()), predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
