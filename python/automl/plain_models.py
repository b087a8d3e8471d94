"""The models where there is numpy and no scikit-learn: boosted trees and a linear one."""

from time import perf_counter

import numpy as np

from automl.data import Views
from automl.settings import CLASSIFIES, MANY_CLASSES, SECONDS, SEED

Table = np.ndarray

ROUNDS = 100 if MANY_CLASSES else 250
RATE = 0.15 if MANY_CLASSES else 0.08
DEPTH = 5
TRIES = 40
"""Splits of a level, of which the best one counts."""
HELD_BACK = 3.0
"""Regularisation of a leaf: this many rows that say nothing."""


def make_member(
    name: str, views: Views, loss: str | float
) -> tuple["Trees | Linear", Table] | None:
    """A model and the view that it learns from."""
    return (Trees(loss), views.full) if name == "boosting" else (Linear(), views.scaled)


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


class Trees:
    """
    Gradient boosting (Friedman 2001) of trees with random splits. All nodes of a level share one,
    as in CatBoost (Prokhorenkova et al. 2018).
    """

    def __init__(self, loss: str | float) -> None:
        self.loss = loss

    def fit(self, table: Table, truth: np.ndarray) -> None:
        """:param truth: classes or numbers, shape (rows,)"""
        rng, began = np.random.default_rng(SEED), perf_counter()
        self.classes_ = np.unique(truth)
        wanted = (truth[:, None] == self.classes_) * 1.0 if CLASSIFIES else truth[:, None]
        self.start = np.zeros(wanted.shape[1]) if CLASSIFIES else wanted.mean(axis=0)
        scores = np.tile(self.start, (len(table), 1))
        self.rounds: list[list[Tree]] = []
        for _ in range(ROUNDS):
            if perf_counter() - began > SECONDS / 12:
                break
            slopes, weights = self.slopes(scores, wanted)
            trees = [Tree(table, *pair, rng) for pair in zip(slopes.T, weights.T, strict=True)]
            scores += np.column_stack([tree.predict(table) for tree in trees])
            self.rounds.append(trees)

    def slopes(self, scores: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative of the loss by the scores."""
        if CLASSIFIES:
            shares = softmax(scores)
            return shares - wanted, np.maximum(shares * (1 - shares), 1e-3)
        errors = scores - wanted
        if self.loss == "absolute_error":
            return errors / np.sqrt(errors**2 + 0.01), np.ones_like(errors)
        return errors, np.ones_like(errors)

    def scores(self, table: Table) -> np.ndarray:
        told = [[tree.predict(table) for tree in trees] for trees in self.rounds]
        return self.start + np.sum(told, axis=0).T

    def predict(self, table: Table) -> np.ndarray:
        return self.scores(table)[:, 0]

    def predict_proba(self, table: Table) -> np.ndarray:
        return softmax(self.scores(table))


class Tree:
    def __init__(
        self, table: Table, slopes: np.ndarray, weights: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.splits: list[tuple[int, float]] = []
        """A column, and the value above which a row goes to the right."""
        chosen = rng.random(len(table)) < 0.8
        some, slopes, weights = table[chosen], slopes[chosen], weights[chosen]
        leaves = np.zeros(len(some), int)
        for _ in range(DEPTH):
            columns = rng.integers(some.shape[1], size=TRIES)
            edges = some[rng.integers(len(some), size=TRIES), columns]
            ways = (2 * leaves[:, None] + (some[:, columns] > edges)).T
            # All splits at once: the leaves of each have numbers of their own.
            places = (ways + 2**DEPTH * np.arange(TRIES)[:, None]).ravel()
            size = TRIES * 2**DEPTH
            sums = np.bincount(places, np.tile(slopes, TRIES), size).reshape(TRIES, -1)
            whole = np.bincount(places, np.tile(weights, TRIES), size).reshape(TRIES, -1)
            best = int(np.argmax((sums**2 / (whole + HELD_BACK)).sum(axis=1)))
            self.splits.append((columns[best], edges[best]))
            leaves, self.values = ways[best], -RATE * sums[best] / (whole[best] + HELD_BACK)

    def predict(self, table: Table) -> np.ndarray:
        leaves = np.zeros(len(table), int)
        for column, edge in self.splits:
            leaves = 2 * leaves + (table[:, column] > edge)
        return self.values[leaves]


class Linear:
    """Ridge regression; of classes, one for each, whose answers are made shares."""

    def fit(self, table: Table, truth: np.ndarray) -> None:
        """:param truth: classes or numbers, shape (rows,)"""
        self.classes_ = np.unique(truth)
        wanted = (truth[:, None] == self.classes_) * 4.0 if CLASSIFIES else truth[:, None]
        known = np.column_stack([table, np.ones(len(table))])
        penalty = np.diag(np.append(np.full(table.shape[1], 10.0), 1e-9))
        self.weights = np.linalg.solve(known.T @ known + penalty, known.T @ wanted)

    def scores(self, table: Table) -> np.ndarray:
        return np.column_stack([table, np.ones(len(table))]) @ self.weights

    def predict(self, table: Table) -> np.ndarray:
        return self.scores(table)[:, 0]

    def predict_proba(self, table: Table) -> np.ndarray:
        return softmax(self.scores(table))
