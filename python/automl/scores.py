"""How good predictions are, by the task's metric."""

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    r2_score,
    roc_auc_score,
)

from automl.settings import CLASSIFIES, METRIC

LOSSES = ("mae", "mse", "rmse", "rmsle", "mape", "smape", "log loss")
DECISIONS = ("balanced accuracy", "f1", "mcc")
"""Metrics for which the likeliest class is not always the best answer."""

Prediction = np.ndarray
"""Regression: shape (rows, targets). Classification: probabilities, shape (rows, classes)."""


def score(truth: np.ndarray, guess: Prediction) -> float:
    """The task's metric. Over several targets: the mean of their scores."""
    if not CLASSIFIES:
        return float(np.mean([column_score(*pair) for pair in zip(truth.T, guess.T, strict=True)]))
    labels = guess.argmax(axis=1)
    if METRIC == "log loss":
        guess = guess / np.maximum(guess.sum(axis=1, keepdims=True), 1e-12)
        return float(log_loss(truth, guess, labels=range(guess.shape[1])))
    if METRIC == "auc":
        return area(truth, guess)
    if METRIC == "f1":
        return float(f1_score(truth, labels, average="binary" if guess.shape[1] == 2 else "macro"))
    others = {"balanced accuracy": balanced_accuracy_score, "mcc": matthews_corrcoef}
    return float(others.get(METRIC, accuracy_score)(truth, labels))


def area(truth: np.ndarray, guess: Prediction) -> float:
    """The mean area under the curve of the classes that can be told apart in these rows."""
    classes = [1] if guess.shape[1] == 2 else range(guess.shape[1])
    told = [each for each in classes if 0 < (truth == each).sum() < len(truth)]
    areas = [roc_auc_score(truth == each, guess[:, each]) for each in told]
    return float(np.mean(areas)) if areas else 0.5


def column_score(truth: np.ndarray, guess: np.ndarray) -> float:
    errors = np.abs(guess - truth)
    size = np.maximum(np.abs(truth), 1e-12)
    if METRIC == "r2":
        return r2_score(truth, guess)
    if METRIC == "rmsle":
        return np.sqrt(np.mean((np.log1p(np.maximum(guess, 0)) - np.log1p(truth)) ** 2))
    return {
        "mae": errors.mean(),
        "mse": (errors**2).mean(),
        "rmse": np.sqrt((errors**2).mean()),
        "mape": (errors / size).mean(),
        "smape": (2 * errors / np.maximum(np.abs(truth) + np.abs(guess), 1e-12)).mean(),
    }[METRIC]


def loss_of(truth: np.ndarray, guess: Prediction) -> float:
    """The score turned so that less is better."""
    value = score(truth, guess) if len(truth) else np.inf
    return value if METRIC in LOSSES else -value


def balance(truth: np.ndarray, guess: Prediction) -> np.ndarray:
    """
    By what the probability of each class is multiplied before the largest one is taken: all by
    one, or where the metric asks for it what scores best, class by class.
    """
    factors = np.ones(guess.shape[1])
    if not CLASSIFIES or METRIC not in DECISIONS:
        return factors
    # Balanced accuracy is best where each class counts as if it were as frequent as the others.
    frequent = np.maximum(guess.mean(axis=0), 1e-3)
    starts = [factors, 1 / frequent]
    factors = min(starts, key=lambda each: loss_of(truth, guess * each)).copy()
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
