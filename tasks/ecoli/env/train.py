"""Predicts the site of a protein in the cell from seven features, and writes submission.csv."""

import os

import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

SEED = int(os.environ.get("MLAB_SEED", "0"))

MEASUREMENTS = ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"]
MAX_DEPTH = None
MIN_SAMPLES_LEAF = 1
FOLDS = 5


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    measurements, sites = train[MEASUREMENTS], train["site"]

    model = DecisionTreeClassifier(
        max_depth=MAX_DEPTH, min_samples_leaf=MIN_SAMPLES_LEAF, random_state=SEED
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    predictions = cross_val_predict(model, measurements, sites, cv=folds)
    print(f"validation balanced accuracy: {balanced_accuracy_score(sites, predictions):.4f}")

    model.fit(measurements, sites)
    submission = pd.DataFrame({"id": test["id"], "site": model.predict(test[MEASUREMENTS])})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
