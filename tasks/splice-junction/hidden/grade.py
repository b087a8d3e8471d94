"""Macro F1 of the predicted kinds of the hidden windows."""

import os
import sys
from collections import Counter
from collections.abc import Sequence

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.submission import Submission


def macro_f1(labels: Sequence[str], predictions: Sequence[str]) -> float:
    """Mean over the labels' classes of 2 hits / (members + predicted members), from 0 to 1."""
    members, predicted = Counter(labels), Counter(predictions)
    pairs = zip(labels, predictions, strict=True)
    hits = Counter(label for label, prediction in pairs if label == prediction)
    scores = [2 * hits[name] / (members[name] + predicted[name]) for name in sorted(members)]
    return sum(scores) / len(scores)


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "kind")

    def score(submission: Submission) -> float:
        predictions = [str(kind) for kind in submission.table.column("kind", list(labels))]
        return macro_f1(list(labels.values()), predictions)

    grade(score, arguments)


if __name__ == "__main__":
    main()
