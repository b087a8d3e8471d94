"""Predicts the output of a power plant at unseen values of vacuum, and writes submission.csv."""

import os

import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, VotingRegressor
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

SEED = int(os.environ.get("MLAB_SEED", "0"))

COLUMNS = ["temperature", "exhaust_vacuum", "pressure", "humidity"]


def make_model() -> VotingRegressor:
    """The mean of a smooth and of a coarse model: neither can memorise single values."""
    kernel = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), SVR(C=3.0, gamma=0.3)), transformer=StandardScaler()
    )
    trees = ExtraTreesRegressor(n_estimators=200, min_samples_leaf=8, random_state=SEED)
    return VotingRegressor([("kernel", kernel), ("trees", trees)])


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    conditions, output = train[COLUMNS], train["output"]

    # As in the hidden test set, no value of the vacuum is in both parts.
    split = GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=SEED)
    ((fitted, validated),) = split.split(conditions, groups=train["exhaust_vacuum"])
    model = make_model().fit(conditions.iloc[fitted], output.iloc[fitted])
    predictions = model.predict(conditions.iloc[validated])
    print(f"validation RMSE: {root_mean_squared_error(output.iloc[validated], predictions):.4f}")

    # Validation is done: train on all hours with a known output.
    predictions = make_model().fit(conditions, output).predict(test[COLUMNS])
    submission = pd.DataFrame({"id": test["id"], "output": predictions})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
