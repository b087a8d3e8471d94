import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold


def build_model(alpha):
    return Ridge(alpha=alpha)


def cross_validate(make, X, y, folds, seed):
    errors = []
    for a, b in KFold(folds, shuffle=True, random_state=seed).split(X):
        errors.append((make().fit(X[a], y[a]).predict(X[b]) - y[b]) ** 2)
    return float(np.sqrt(np.concatenate(errors).mean()))
