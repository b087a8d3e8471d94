import os

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR


class Blend:
    """Boosted trees and a support vector regression, both on what a ridge leaves over."""

    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        seed = int(os.environ.get("MLAB_SEED", "0"))
        self.ridge = make_pipeline(StandardScaler(), Ridge(30)).fit(X, y)
        rest = y - self.ridge.predict(X)
        self.trees = GradientBoostingRegressor(
            n_estimators=250, learning_rate=0.06, max_depth=4, subsample=0.6, max_features=0.15, random_state=seed
        ).fit(X, rest)
        self.svr = make_pipeline(StandardScaler(), SVR(C=30, gamma=0.001, epsilon=2)).fit(X, y)
        return self

    def predict(self, X):
        return 0.4 * (self.ridge.predict(X) + self.trees.predict(X)) + 0.6 * self.svr.predict(X)


def build_model(alpha):
    return Blend(alpha)


def cross_validate(make, X, y, folds, seed):
    errors = []
    for a, b in KFold(folds, shuffle=True, random_state=seed).split(X):
        errors.append((make().fit(X[a], y[a]).predict(X[b]) - y[b]) ** 2)
    return float(np.sqrt(np.concatenate(errors).mean()))
