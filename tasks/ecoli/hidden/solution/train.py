"""Predicts the site of a protein in the cell, with equal weight for all sites."""

import os

import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))

MEASUREMENTS = ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"]


def make_model(sites: int) -> VotingClassifier:
    """The mean probability of three models with balanced class weights."""
    linear = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)
    )
    normal = LinearDiscriminantAnalysis(priors=[1 / sites] * sites)
    trees = ExtraTreesClassifier(
        n_estimators=200, min_samples_leaf=3, class_weight="balanced", random_state=SEED
    )
    models = [("linear", linear), ("normal", normal), ("trees", trees)]
    return VotingClassifier(models, voting="soft")


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    measurements, sites = train[MEASUREMENTS], train["site"]

    model = make_model(sites.nunique())
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    predictions = cross_val_predict(model, measurements, sites, cv=folds)
    print(f"validation balanced accuracy: {balanced_accuracy_score(sites, predictions):.4f}")

    model.fit(measurements, sites)
    submission = pd.DataFrame({"id": test["id"], "site": model.predict(test[MEASUREMENTS])})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
