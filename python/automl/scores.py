"""How good predictions are, by the task's metric."""

import re

import numpy as np

from automl.settings import ARE_LABELS, CLASSIFIES, METRIC, QUANTILES

LOSSES = (
    *("mae", "mse", "rmse", "rmsle", "msle", "mape", "smape", "wape"),
    *("rmspe", "median absolute error", "pinball"),
    *("log loss", "brier", "error rate", "balanced error"),
)
ABSOLUTE = ("mae", "wape", "median absolute error")
RELATIVE = ("rmsle", "msle", "mape", "rmspe", "smape")
"""Metrics for which the same error counts more where the number is small."""
F_BETA = re.fullmatch(r"(?:macro |micro |weighted |samples )?f(\d(?:\.\d+)?)", METRIC)
DECISIONS = (
    *("balanced accuracy", "balanced error", "matthews correlation"),
    *("kappa", "quadratic weighted kappa"),
    *([METRIC] if F_BETA else []),
)
"""Metrics for which the likeliest class is not always the best answer."""

Prediction = np.ndarray
"""Regression: shape (rows, targets). Classification: probabilities, shape (rows, classes)."""


def score(truth: np.ndarray, guess: Prediction) -> float:
    """The task's metric. Over several targets: the mean of their scores."""
    if CLASSIFIES:
        return score_of_classes(truth, guess)
    if ARE_LABELS and METRIC.startswith("micro"):
        truth, guess = truth.reshape(-1, 1), guess.reshape(-1, 1)
    if METRIC.startswith("samples"):
        return score_of_rows(truth == 1, guess >= 0.5)
    columns = zip(truth.T, guess.T, strict=True)
    if METRIC == "pinball":
        scores = [pinball(*each, of) for each, of in zip(columns, QUANTILES, strict=True)]
    else:
        scores = [(label_score if ARE_LABELS else column_score)(*each) for each in columns]
    weights = truth.sum(axis=0) if ARE_LABELS and METRIC.startswith("weighted") else None
    return float(np.average(scores, weights=weights))


def score_of_rows(truth: np.ndarray, told: np.ndarray) -> float:
    """The mean F score of the labels of each row, shape (rows, labels); 0 without any."""
    weight = float(F_BETA[1]) ** 2 if F_BETA else 1.0
    sizes = weight * truth.sum(axis=1) + told.sum(axis=1)
    return float(np.mean((1 + weight) * (truth & told).sum(axis=1) / np.maximum(sizes, 1e-12)))


def label_score(truth: np.ndarray, guess: np.ndarray) -> float:
    """Of a target that is 1 or 0, by how likely 1 is, shape (rows,)."""
    likely = np.clip(guess, 0, 1)
    return score_of_classes(truth.astype(int), np.column_stack([1 - likely, likely]))


def score_of_classes(truth: np.ndarray, guess: Prediction) -> float:
    if METRIC in ("auc", "gini", "average precision"):
        return mean_over_classes(truth, guess)
    if METRIC not in ("log loss", "brier"):
        return decided(truth, likeliest(guess), guess.shape[1])
    shares = guess / np.maximum(guess.sum(axis=1, keepdims=True), 1e-12)
    right = np.eye(guess.shape[1])[truth]
    if METRIC == "log loss":
        return float(-np.log(np.clip((shares * right).sum(axis=1), 1e-15, 1)).mean())
    # With two classes, the score is that of one of them.
    squares = ((shares - right) ** 2).sum(axis=1).mean()
    return float(squares / 2 if guess.shape[1] == 2 else squares)


def likeliest(guess: Prediction) -> np.ndarray:
    """Of each row, shape (rows,): where squared distances count, the class nearest to the mean."""
    if METRIC != "quadratic weighted kappa":
        return guess.argmax(axis=1)
    shares = guess / np.maximum(guess.sum(axis=1, keepdims=True), 1e-12)
    return (shares @ np.arange(guess.shape[1])).round().astype(int)


def mean_over_classes(truth: np.ndarray, guess: Prediction) -> float:
    """How well rows are ordered, as a mean over the classes that these rows can tell apart."""
    classes = [1] if guess.shape[1] == 2 else range(guess.shape[1])
    told = [each for each in classes if 0 < (truth == each).sum() < len(truth)]
    measure = average_precision if METRIC == "average precision" else area
    mean = np.mean([measure(truth == each, guess[:, each]) for each in told]) if told else 0.5
    return float(2 * mean - 1 if METRIC == "gini" else mean)


def ranks(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def area(positive: np.ndarray, guess: np.ndarray) -> float:
    """Under the ROC curve: how often a positive row is ranked above another one."""
    count = positive.sum()
    above = ranks(guess)[positive].sum() - count * (count + 1) / 2
    return float(above / (count * (len(positive) - count)))


def average_precision(positive: np.ndarray, guess: np.ndarray) -> float:
    """The mean precision at each threshold, weighted by the gain in recall."""
    order = np.argsort(-guess, kind="stable")
    hits = np.cumsum(positive[order])
    # Equal guesses have one threshold.
    last = np.append(np.diff(guess[order]) != 0, True)
    found, rows = hits[last], np.flatnonzero(last) + 1
    return float(np.sum(np.diff(found, prepend=0) / hits[-1] * found / rows))


def decided(truth: np.ndarray, labels: np.ndarray, width: int) -> float:
    """The score of one class for each row."""
    table = np.zeros((width, width))
    np.add.at(table, (truth, labels), 1)
    right, actual, told, rows = table.diagonal(), table.sum(1), table.sum(0), table.sum()
    met = actual + told > 0
    if F_BETA:
        # How much more recall counts than precision.
        weight = float(F_BETA[1]) ** 2
        each = (1 + weight) * right / np.maximum(weight * actual + told, 1e-12)
        if width == 2 and (ARE_LABELS or METRIC[0] == "f"):
            return float(each[1])
        return float(np.average(each[met], weights=actual[met] if "weighted" in METRIC else None))
    if METRIC.endswith("kappa"):
        steps = np.subtract.outer(np.arange(width), np.arange(width))
        weights = steps != 0 if METRIC == "kappa" else steps**2
        chance = (weights * np.outer(actual, told)).sum() / rows
        # Nothing is agreed on beyond chance where there is one class alone.
        return float(1 - (weights * table).sum() / chance) if chance > 0 else 0.0
    if METRIC == "matthews correlation":
        spread = (rows**2 - (told**2).sum()) * (rows**2 - (actual**2).sum())
        return float((right.sum() * rows - actual @ told) / np.sqrt(spread)) if spread > 0 else 0.0
    share = float(right.sum() / rows)
    if METRIC.startswith("balanced"):
        share = float(np.mean(right[actual > 0] / actual[actual > 0]))
    return 1 - share if "error" in METRIC else share


def pinball(truth: np.ndarray, guess: np.ndarray, quantile: float) -> float:
    gaps = truth - guess
    return float(np.maximum(quantile * gaps, (quantile - 1) * gaps).mean())


def column_score(truth: np.ndarray, guess: np.ndarray) -> float:
    errors = np.abs(guess - truth)
    size = np.maximum(np.abs(truth), 1e-12)
    if METRIC == "r2":
        spread = ((truth - truth.mean()) ** 2).sum()
        return float(1 - (errors**2).sum() / max(spread, 1e-12))
    if METRIC in ("pearson", "spearman"):
        if METRIC == "spearman":
            truth, guess = ranks(truth), ranks(guess)
        # A constant agrees with nothing.
        spread = truth.std() * guess.std()
        return float(np.mean((truth - truth.mean()) * (guess - guess.mean())) / max(spread, 1e-12))
    if METRIC in ("msle", "rmsle"):
        squares = np.mean((np.log1p(np.maximum(guess, 0)) - np.log1p(truth)) ** 2)
        return squares if METRIC == "msle" else np.sqrt(squares)
    return {
        "median absolute error": np.median(errors),
        "mae": errors.mean(),
        "mse": (errors**2).mean(),
        "rmse": np.sqrt((errors**2).mean()),
        "mape": (errors / size).mean(),
        "rmspe": np.sqrt(((errors / size) ** 2).mean()),
        "wape": errors.sum() / size.sum(),
        "smape": (2 * errors / np.maximum(np.abs(truth) + np.abs(guess), 1e-12)).mean(),
    }[METRIC]


def loss_of(truth: np.ndarray, guess: Prediction) -> float:
    """The score turned so that less is better."""
    value = score(truth, guess) if len(truth) else np.inf
    return value if METRIC in LOSSES else -value


def is_decided() -> bool:
    return (CLASSIFIES or ARE_LABELS) and METRIC in DECISIONS


def starts(guess: Prediction) -> list[np.ndarray]:
    """
    Balanced accuracy is best where each class counts as if it were as frequent as the others.
    """
    return [np.ones(guess.shape[1]), 1 / np.maximum(guess.mean(axis=0), 1e-3)]


def reachable_loss(truth: np.ndarray, guess: Prediction) -> float:
    """The loss that a blend can have at least, since it is balanced afterwards."""
    if not is_decided():
        return loss_of(truth, guess)
    return min(loss_of(truth, guess * each) for each in starts(guess))


def balance(truth: np.ndarray, guess: Prediction) -> np.ndarray:
    """
    By what the probability of each class, or label, is multiplied before it is decided: all by one,
    or where the metric asks for it what scores best, one by one.
    """
    if not is_decided():
        return np.ones(guess.shape[1])
    factors = min(starts(guess), key=lambda each: loss_of(truth, guess * each)).copy()
    for _ in range(2):
        for each in range(len(factors)):
            tries = np.outer(np.geomspace(0.2, 5, 21), np.eye(len(factors))[each] * factors)
            tries[:, np.arange(len(factors)) != each] = np.delete(factors, each)
            losses = [loss_of(truth, guess * tried) for tried in tries]
            # Neighbours must be good too: a single peak is luck.
            smooth = np.convolve(np.pad(losses, 1, mode="edge"), np.ones(3) / 3, mode="valid")
            if smooth.min() < loss_of(truth, guess * factors):
                factors = tries[int(smooth.argmin())]
    return factors
