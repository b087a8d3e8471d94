"""Biases, then factors by alternating ridge regressions; games' factors are drawn to what their attributes tell."""
import os

import numpy as np
import pandas as pd


class Factors:
    def __init__(self, rank=5, ridge=5.0, side=6.0, epochs=15):
        self.rank, self.ridge, self.side, self.epochs = rank, ridge, side, epochs

    def fit(self, ratings):
        rng = np.random.default_rng(int(os.environ.get("MLAB_SEED", "0")))
        games = pd.read_csv("data/games.csv")
        self.place = {g: k for k, g in enumerate(games.game)}
        self.most = games.max_players.to_numpy()
        A = pd.get_dummies(games.genre).astype(float)
        for name, values in (("w", games.weight), ("m", np.log(games.minutes)), ("y", games.year)):
            A[name] = ((values - values.mean()) / values.std()).fillna(0)
        A = np.c_[A.to_numpy(), A["w"] ** 2, A["m"] ** 2]
        self.user = {u: k for k, u in enumerate(sorted(ratings.user.unique()))}
        u, g = ratings.user.map(self.user).to_numpy(), ratings.game.map(self.place).to_numpy()
        over = (ratings.group_size.to_numpy() > self.most[g]).astype(float)
        y = ratings.rating.to_numpy()
        nu, ng, r = len(self.user), len(games), self.rank
        self.mean, self.effect = y.mean(), 0.0
        # column 0 of P and the last of Q are the biases: P = [bu, 1, p], Q = [1, bg, q]
        self.P = np.c_[np.zeros(nu), rng.normal(0, 0.1, (nu, r))]
        self.Q = np.c_[np.zeros(ng), rng.normal(0, 0.1, (ng, r))]
        rows_u = [np.flatnonzero(u == k) for k in range(nu)]
        rows_g = [np.flatnonzero(g == k) for k in range(ng)]
        for _ in range(self.epochs):
            base = y - self.mean - self.effect * over
            prior = A @ np.linalg.solve(A.T @ A + 3 * np.eye(A.shape[1]), A.T @ self.Q)
            penalty = np.diag([1.0] + [self.ridge] * r)
            for k, rows in enumerate(rows_u):
                X = np.c_[np.ones(len(rows)), self.Q[g[rows], 1:]]
                self.P[k] = np.linalg.solve(X.T @ X + penalty, X.T @ (base[rows] - self.Q[g[rows], 0]))
            penalty = np.diag([2.0] + [self.side] * r)
            for k, rows in enumerate(rows_g):
                X = np.c_[np.ones(len(rows)), self.P[u[rows], 1:]]
                rest = base[rows] - self.P[u[rows], 0] - X @ prior[k]
                self.Q[k] = prior[k] + np.linalg.solve(X.T @ X + penalty, X.T @ rest)
            rest = y - self.mean - self.P[u, 0] - self.Q[g, 0] - (self.P[u, 1:] * self.Q[g, 1:]).sum(1)
            self.effect = (rest * over).sum() / (over.sum() + 10)
            scale = np.sqrt((self.Q[:, 1:] ** 2).mean(0) + 1e-9)
            self.Q[:, 1:] /= scale
            self.P[:, 1:] *= scale
        return self

    def predict(self, pairs):
        u = pairs.user.map(self.user).fillna(-1).astype(int).to_numpy()
        g = pairs.game.map(self.place).to_numpy()
        P = np.where((u >= 0)[:, None], self.P[u], 0)
        over = pairs.group_size.to_numpy() > self.most[g]
        return self.mean + self.effect * over + P[:, 0] + self.Q[g, 0] + (P[:, 1:] * self.Q[g, 1:]).sum(1)


MODELS = {"factors": Factors}
