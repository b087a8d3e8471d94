# Baseline for the retention indices: forest on the features of features.py
import csv
import json
import os

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold

from features import matrix

SEED = int(os.environ.get("MLAB_SEED", "0"))
FOLDS = 4
N_TREES = 60
MIN_LEAF = 8


def load(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def build():
    return RandomForestRegressor(
        n_estimators=N_TREES, min_samples_leaf=MIN_LEAF, random_state=SEED
    )


train = load("data/compounds_train.csv")
test = load("data/compounds_test.csv")
X, X_test = matrix(train), matrix(test)
y = np.array([float(row["retention_index"]) for row in train])

errors = []
for fit_idx, val_idx in KFold(FOLDS, shuffle=True, random_state=SEED).split(X):
    model = build().fit(X[fit_idx], y[fit_idx])
    errors.append(np.sqrt(np.mean((model.predict(X[val_idx]) - y[val_idx]) ** 2)))

model = build().fit(X, y)
with open("submission.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["compound", "retention_index"])
    for row, value in zip(test, model.predict(X_test)):
        writer.writerow([row["compound"], f"{value:.2f}"])

print(json.dumps({"folds": FOLDS, "cv_rmse": round(float(np.mean(errors)), 3)}))
