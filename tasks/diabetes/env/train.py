"""Predicts the progression of diabetes with boosted trees, and writes submission.csv."""

import csv
import os

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_score

SEED = int(os.environ.get("MLAB_SEED", "0"))

TREES = 100
LEARNING_RATE = 0.3
MAX_DEPTH = 5
MIN_SAMPLES_LEAF = 1
SUBSAMPLE = 1.0
FOLDS = 5


def read_table(path: str) -> tuple[list[str], np.ndarray]:
    """The header of a CSV file and its numbers."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def main() -> None:
    # Columns: id, ten measurements, and in train.csv the progression after one year.
    _, train = read_table("data/train.csv")
    _, test = read_table("data/test.csv")
    measurements, progression = train[:, 1:11], train[:, 11]

    model = GradientBoostingRegressor(
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        subsample=SUBSAMPLE,
        random_state=SEED,
    )
    folds = KFold(FOLDS, shuffle=True, random_state=SEED)
    errors = -cross_val_score(
        model, measurements, progression, cv=folds, scoring="neg_root_mean_squared_error"
    )
    print(f"validation RMSE: {errors.mean():.4f}")

    model.fit(measurements, progression)
    predictions = model.predict(test[:, 1:11])
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "progression"])
        writer.writerows(zip(test[:, 0].astype(int), predictions, strict=True))


if __name__ == "__main__":
    main()
