"""Scores of predictions against labels in the same order."""

import math
from collections.abc import Sequence


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
