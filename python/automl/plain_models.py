"""The models where there is numpy and no scikit-learn: boosted trees and a linear one."""

from time import perf_counter

import numpy as np

from automl.data import Views
from automl.settings import CLASSIFIES, MANY_CLASSES, SECONDS, SEED

Table = np.ndarray
Split = tuple[int, float]
"""A column, and the value above which a row goes to the right."""

ROUNDS = 100 if MANY_CLASSES else 250
RATE = 0.15 if MANY_CLASSES else 0.08
DEPTH = 5
BINS = 48
HELD_BACK = 3.0
"""Regularisation of a leaf: this many rows that say nothing."""


def make_member(name: str, views: Views, loss: str) -> tuple["Trees | Linear", Table] | None:
    """A model and the view that it learns from."""
    return (Trees(loss), views.full) if name == "boosting" else (Linear(), views.scaled)


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


class Trees:
    """
    Gradient boosting (Friedman 2001) on binned columns. All nodes of a level share a split, as in
    CatBoost (Prokhorenkova et al. 2018).
    """

    def __init__(self, loss: str) -> None:
        self.loss = loss

    def fit(self, table: Table, truth: np.ndarray) -> "Trees":
        """:param truth: classes or numbers, shape (rows,)"""
        rng, began = np.random.default_rng(SEED), perf_counter()
        self.classes_ = np.unique(truth)
        self.start = 0.0 if CLASSIFIES else float(np.mean(truth))
        wanted = (truth[:, None] == self.classes_) * 1.0 if CLASSIFIES else truth[:, None]
        shares = np.linspace(0, 1, BINS + 1)[1:-1]
        edges = [np.unique(np.quantile(column, shares)) for column in table.T]
        binned = [np.searchsorted(*pair) for pair in zip(edges, table.T, strict=True)]
        scores = np.full(wanted.shape, self.start)
        self.trees: list[tuple[int, list[Split], np.ndarray]] = []
        for _ in range(ROUNDS):
            if perf_counter() - began > SECONDS / 12:
                break
            slopes, weights = self.slopes(scores, wanted)
            columns = rng.permutation(len(edges))[: max(1, int(0.7 * len(edges)))]
            for output in range(wanted.shape[1]):
                chosen = rng.random(len(truth)) < 0.8
                pair = slopes[:, output] * chosen, weights[:, output] * chosen
                splits, leaves = grown(binned, columns, *pair)
                values = leaf_values(leaves, *pair)
                scores[:, output] += values[leaves]
                told = [(column, edges[column][place]) for column, place in splits]
                self.trees.append((output, told, values))
        return self

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
        width = len(self.classes_) if CLASSIFIES else 1
        scores = np.full((len(table), width), self.start)
        for output, splits, values in self.trees:
            leaves = np.zeros(len(table), int)
            for column, edge in splits:
                leaves = 2 * leaves + (table[:, column] > edge)
            scores[:, output] += values[leaves]
        return scores

    def predict(self, table: Table) -> np.ndarray:
        return self.scores(table)[:, 0]

    def predict_proba(self, table: Table) -> np.ndarray:
        return softmax(self.scores(table))


def grown(
    binned: list[np.ndarray], columns: np.ndarray, slopes: np.ndarray, weights: np.ndarray
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """The splits of a tree, level by level, and the leaf of each row."""
    leaves, splits = np.zeros(len(slopes), int), []
    for depth in range(DEPTH):
        best, found = 1e-9, None
        for column in columns:
            bins = int(binned[column].max()) + 1
            if bins < 2:
                continue
            places, size = leaves * bins + binned[column], 2**depth * bins
            sums = [
                np.bincount(places, each, minlength=size).reshape(-1, bins)
                for each in (slopes, weights)
            ]
            left = [np.cumsum(each, axis=1)[:, :-1] for each in sums]
            whole = [each.sum(axis=1, keepdims=True) for each in sums]
            gains = gain(*left) + gain(whole[0] - left[0], whole[1] - left[1]) - gain(*whole)
            place = int(np.argmax(gains.sum(axis=0)))
            if gains.sum(axis=0)[place] > best:
                best, found = gains.sum(axis=0)[place], (int(column), place)
        if found is None:
            break
        splits.append(found)
        leaves = 2 * leaves + (binned[found[0]] > found[1])
    return splits, leaves


def gain(slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return slopes**2 / (weights + HELD_BACK)


def leaf_values(leaves: np.ndarray, slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sums = [np.bincount(leaves, each, minlength=2**DEPTH) for each in (slopes, weights)]
    return -RATE * sums[0] / (sums[1] + HELD_BACK)


class Linear:
    """Ridge regression; of classes, one for each, whose answers are made shares."""

    def fit(self, table: Table, truth: np.ndarray) -> "Linear":
        """:param truth: classes or numbers, shape (rows,)"""
        self.classes_ = np.unique(truth)
        wanted = (truth[:, None] == self.classes_) * 4.0 if CLASSIFIES else truth[:, None]
        known = np.column_stack([table, np.ones(len(table))])
        penalty = np.diag(np.append(np.full(table.shape[1], 10.0), 1e-9))
        self.weights = np.linalg.solve(known.T @ known + penalty, known.T @ wanted)
        return self

    def predict(self, table: Table) -> np.ndarray:
        return (np.column_stack([table, np.ones(len(table))]) @ self.weights)[:, 0]

    def predict_proba(self, table: Table) -> np.ndarray:
        return softmax(np.column_stack([table, np.ones(len(table))]) @ self.weights)
