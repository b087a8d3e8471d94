"""Scores of predictions against labels in the same order."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby


def accuracy(labels: Sequence[object], predictions: Sequence[object]) -> float:
    """Share of predictions that equal their label, from 0 to 1."""
    pairs = zip(labels, predictions, strict=True)
    return sum(label == prediction for label, prediction in pairs) / len(labels)


def mean_absolute_error(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """Mean distance between prediction and label, in the labels' unit."""
    pairs = zip(labels, predictions, strict=True)
    return math.fsum(abs(label - prediction) for label, prediction in pairs) / len(labels)


def root_mean_squared_error(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """Root of the mean squared distance between prediction and label, in the labels' unit."""
    distances = [label - prediction for label, prediction in zip(labels, predictions, strict=True)]
    return math.sqrt(math.fsum(distance * distance for distance in distances) / len(labels))


def f1(labels: Sequence[object], predictions: Sequence[object], positive: object) -> float:
    """
    Harmonic mean of precision and recall of the class `positive`, from 0 to 1; 0 where it is
    neither among the labels nor among the predictions.
    """
    return f1_by_class(labels, predictions).get(positive, 0.0)


def macro_f1(labels: Sequence[object], predictions: Sequence[object]) -> float:
    """Mean of `f1` over the classes of the labels, each with the same weight, from 0 to 1."""
    scores = f1_by_class(labels, predictions)
    classes = dict.fromkeys(labels)
    return math.fsum(scores[each] for each in classes) / len(classes)


def f1_by_class(labels: Sequence[object], predictions: Sequence[object]) -> dict[object, float]:
    """Of each class in labels or predictions: 2 hits / (members + predicted members)."""
    pairs = zip(labels, predictions, strict=True)
    hits = Counter(label for label, prediction in pairs if label == prediction)
    named = Counter(labels) + Counter(predictions)
    return {each: 2 * hits[each] / count for each, count in named.items()}


def roc_auc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """
    Area under the ROC curve, from 0 to 1: how often a true label has a higher score than a false
    one, where ties count half (Mann and Whitney 1947). `labels` and `scores` are of one length.
    Raises ValueError where all labels are the same.
    """
    pairs = sorted(zip(scores, labels, strict=True))
    below, wins = 0, 0.0
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        truths = [bool(label) for _, label in tied]
        positive, negative = sum(truths), len(truths) - sum(truths)
        wins += positive * (below + negative / 2)
        below += negative
    positives = len(pairs) - below
    if positives == 0 or below == 0:
        raise ValueError("the area under the ROC curve needs labels of both kinds")
    return wins / (positives * below)


def log_loss(
    labels: Sequence[int], probabilities: Sequence[Sequence[float]], least: float = 1e-15
) -> float:
    """
    Mean of minus the natural logarithm of the probability given to the true class, in nats: 0 is
    perfect. `labels` are numbers of columns; `probabilities` has a row for each label and a column
    for each class. Rows are divided by their sum; what is below `least` then counts as `least`.
    Raises ValueError where a number is negative or not finite, or a row has no positive sum:
    graders tell that as `Rejected`.
    """
    losses = []
    for label, row in zip(labels, probabilities, strict=True):
        total = math.fsum(row)
        if min(row) < 0 or not 0 < total < math.inf:
            raise ValueError("a row of probabilities is negative, not finite, or all zeros")
        losses.append(-math.log(max(row[label] / total, least)))
    return math.fsum(losses) / len(losses)


def weighted_absolute_percentage_error(
    labels: Sequence[float], predictions: Sequence[float]
) -> float:
    """
    Sum of the distances between predictions and labels over the sum of the labels' absolute values
    (WAPE): 0 is perfect, 1 is what zeros get. Raises ValueError where all labels are 0.
    """
    size = math.fsum(abs(label) for label in labels)
    if size == 0:
        raise ValueError("a percentage error needs a label that is not 0")
    pairs = zip(labels, predictions, strict=True)
    return math.fsum(abs(label - prediction) for label, prediction in pairs) / size
