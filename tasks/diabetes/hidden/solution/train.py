"""Predicts the progression of diabetes with three simple models, and writes submission.csv."""

import csv
import os

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

SEED = int(os.environ.get("MLAB_SEED", "0"))


def read_table(path: str) -> tuple[list[str], np.ndarray]:
    """The header of a CSV file and its numbers."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def make_model() -> VotingRegressor:
    """The mean of a linear, a kernel and a shallow tree model: 300 patients support no more."""
    trees = GradientBoostingRegressor(
        n_estimators=150,
        learning_rate=0.03,
        max_depth=2,
        min_samples_leaf=5,
        subsample=0.6,
        random_state=SEED,
    )
    return VotingRegressor(
        [
            ("linear", make_pipeline(StandardScaler(), Ridge(alpha=10.0))),
            ("kernel", make_pipeline(StandardScaler(), SVR(C=30.0, gamma=0.02))),
            ("trees", trees),
        ]
    )


def main() -> None:
    _, train = read_table("data/train.csv")
    _, test = read_table("data/test.csv")
    measurements, progression = train[:, 1:11], train[:, 11]

    folds = KFold(5, shuffle=True, random_state=SEED)
    errors = -cross_val_score(
        make_model(), measurements, progression, cv=folds, scoring="neg_root_mean_squared_error"
    )
    print(f"validation RMSE: {errors.mean():.4f}")

    predictions = make_model().fit(measurements, progression).predict(test[:, 1:11])
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "progression"])
        writer.writerows(zip(test[:, 0].astype(int), predictions, strict=True))


if __name__ == "__main__":
    main()
