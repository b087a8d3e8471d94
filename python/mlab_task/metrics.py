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


def root_mean_squared_logarithmic_error(
    labels: Sequence[float], predictions: Sequence[float]
) -> float:
    """
    Root of the mean squared distance of the natural logarithms of 1 + value (RMSLE): 0 is perfect.
    Raises ValueError if a value is -1 or less.
    """
    if any(value <= -1 for value in (*labels, *predictions)):
        raise ValueError("the logarithm needs values above -1")
    return root_mean_squared_error([*map(math.log1p, labels)], [*map(math.log1p, predictions)])


def pinball_loss(labels: Sequence[float], predictions: Sequence[float], quantile: float) -> float:
    """
    Mean loss of predicted quantiles (Koenker and Bassett 1978), in the labels' unit: a label above
    its prediction counts `quantile` times the distance, one below it `1 - quantile` times. 0 is
    perfect; the best constant is the quantile of the labels. `quantile` is between 0 and 1.
    """
    distances = [label - prediction for label, prediction in zip(labels, predictions, strict=True)]
    return math.fsum(max(quantile * d, (quantile - 1) * d) for d in distances) / len(distances)


def balanced_accuracy(labels: Sequence[object], predictions: Sequence[object]) -> float:
    """
    Mean over the classes of the labels of the share of each that is predicted, from 0 to 1: 1 is
    perfect, and a constant gets 1 / number of classes.
    """
    pairs = zip(labels, predictions, strict=True)
    hits = Counter(label for label, prediction in pairs if label == prediction)
    members = Counter(labels)
    return math.fsum(hits[each] / count for each, count in members.items()) / len(members)


def quadratic_weighted_kappa(labels: Sequence[int], predictions: Sequence[int]) -> float:
    """
    Agreement of whole-number ratings (Cohen 1968), errors weighted by their square: 1 - (mean
    squared distance) / (the same if labels and predictions were paired at random). 1 is perfect,
    0 is chance, and a constant gets 0. Raises ValueError if all labels and predictions are the
    same rating.
    """
    count = len(labels)
    pairs = zip(labels, predictions, strict=True)
    seen = math.fsum((label - prediction) ** 2 for label, prediction in pairs) / count
    ours, theirs = Counter(labels), Counter(predictions)
    by_chance = math.fsum(
        (one - other) ** 2 * ours[one] * theirs[other] for one in ours for other in theirs
    )
    if by_chance == 0:
        raise ValueError("a kappa needs ratings that differ")
    return 1 - seen * count * count / by_chance


def ndcg(relevances: Sequence[float], possible: Sequence[float], length: int) -> float:
    """
    Normalised discounted cumulative gain of one ranked list (Järvelin and Kekäläinen 2002), from 0
    to 1: the sum of relevance / log2(rank + 1) over the first `length` entries, with ranks from 1,
    divided by that of the best list. `relevances` are those of the entries in their order,
    `possible` those of everything that could be listed; none is negative. Raises ValueError if
    nothing is relevant: leave such a list out of the mean.
    """
    best = _discounted(sorted(possible, reverse=True)[:length])
    if best == 0:
        raise ValueError("nothing is relevant")
    return _discounted(relevances[:length]) / best


def f1(labels: Sequence[object], predictions: Sequence[object], positive: object) -> float:
    """
    Harmonic mean of precision and recall of the class `positive`, from 0 to 1; 0 if it is neither
    among the labels nor among the predictions.
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
    one, with ties counted half (Mann and Whitney 1947). `labels` and `scores` have the same length.
    Raises ValueError if all labels are the same.
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
    Raises ValueError if a number is negative or not finite, or a row has no positive sum: graders
    report that as `Rejected`.
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
    (WAPE): 0 is perfect, 1 is what zeros get. Raises ValueError if all labels are 0.
    """
    size = math.fsum(abs(label) for label in labels)
    if size == 0:
        raise ValueError("a percentage error needs a label that is not 0")
    pairs = zip(labels, predictions, strict=True)
    return math.fsum(abs(label - prediction) for label, prediction in pairs) / size


def pearson_correlation(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """
    Linear correlation (Pearson 1895), from -1 to 1: higher is better, and the scale of the
    predictions does not matter. Constant predictions get 0. `labels` and `predictions` are of one
    length. Raises ValueError where all labels are the same.
    """
    if len(labels) != len(predictions):
        raise ValueError("labels and predictions are of different lengths")
    ours, theirs = _centred(labels), _centred(predictions)
    if not any(ours):
        raise ValueError("a correlation needs labels that differ")
    sizes = math.sqrt(_sum_of_squares(ours)) * math.sqrt(_sum_of_squares(theirs))
    if sizes == 0:
        return 0.0
    products = math.fsum(ours[row] * theirs[row] for row in range(len(ours)))
    return max(-1.0, min(1.0, products / sizes))


def spearman_correlation(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """
    Rank correlation (Spearman 1904), from -1 to 1: `pearson_correlation` of the ranks, where ties
    get the mean of their ranks. Higher is better; only the order of the predictions matters.
    Constant predictions get 0. Raises ValueError where all labels are the same.
    """
    return pearson_correlation(_ranks(labels), _ranks(predictions))


def r_squared(labels: Sequence[float], predictions: Sequence[float]) -> float:
    """
    Coefficient of determination: 1 - (sum of squared errors) / (sum of squared distances of the
    labels from their mean). 1 is perfect, higher is better, and there is no lower bound. The mean
    of the labels as the only prediction gets 0, any other constant less. Raises ValueError where
    all labels are the same.
    """
    if len(set(labels)) < 2:
        raise ValueError("the coefficient of determination needs labels that differ")
    mean = math.fsum(labels) / len(labels)
    whole = _sum_of_squares([label - mean for label in labels])
    errors = [label - prediction for label, prediction in zip(labels, predictions, strict=True)]
    return 1 - _sum_of_squares(errors) / whole


def average_precision(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """
    Area under the steps of the precision-recall curve, from 0 to 1: the mean, over the true labels,
    of the precision among all rows that score at least as high (as in scikit-learn, without
    interpolation). Higher is better; only the order of the scores matters. Constant scores get the
    share of true labels. Raises ValueError if no label is true.
    """
    pairs = sorted(zip(scores, labels, strict=True), key=lambda pair: -pair[0])
    seen, hits, total = 0, 0, 0.0
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        truths = [bool(label) for _, label in tied]
        seen += len(truths)
        hits += sum(truths)
        total += sum(truths) * hits / seen
    if hits == 0:
        raise ValueError("the average precision needs a true label")
    return total / hits


def brier_score(labels: Sequence[bool], probabilities: Sequence[float]) -> float:
    """
    Mean squared distance between the probability of a true label and the actual label, 1 or 0
    (Brier 1950, for two classes): from 0 to 1, lower is better. A constant 0.5 gets 0.25; of the
    constants, the share p of true labels is best and gets p * (1 - p). Raises ValueError if a
    probability is not from 0 to 1.
    """
    if not all(0 <= probability <= 1 for probability in probabilities):
        raise ValueError("a probability is not from 0 to 1")
    pairs = zip(labels, probabilities, strict=True)
    return math.fsum((bool(label) - probability) ** 2 for label, probability in pairs) / len(labels)


def _discounted(relevances: Sequence[float]) -> float:
    return math.fsum(each / math.log2(rank + 2) for rank, each in enumerate(relevances))


def _centred(values: Sequence[float]) -> list[float]:
    """Distances from the mean, scaled so that no sum of squares overflows."""
    largest = max(map(abs, values), default=0) or 1
    scaled = [value / largest for value in values]
    if len(set(scaled)) < 2:
        return [0.0] * len(scaled)
    mean = math.fsum(scaled) / len(scaled)
    return [value - mean for value in scaled]


def _sum_of_squares(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values)


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 0; ties get the mean of theirs."""
    order = sorted(range(len(values)), key=lambda row: values[row])
    ranks = [0.0] * len(values)
    first = 0
    for _, tied in groupby(order, key=lambda row: values[row]):
        rows = list(tied)
        for row in rows:
            ranks[row] = first + (len(rows) - 1) / 2
        first += len(rows)
    return ranks
