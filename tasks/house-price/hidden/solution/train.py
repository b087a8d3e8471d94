"""Predicts house prices with boosted trees on all columns, and writes submission.csv."""

import os

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

SEED = int(os.environ.get("MLAB_SEED", "0"))


def make_model(features: pd.DataFrame) -> TransformedTargetRegressor:
    """Boosted trees that predict the logarithm of the price."""
    numbers = features.select_dtypes("number").columns
    words = features.columns.difference(numbers)
    trees = GradientBoostingRegressor(
        n_estimators=500,
        learning_rate=0.05,
        max_depth=4,
        min_samples_leaf=5,
        subsample=0.7,
        max_features=0.3,
        random_state=SEED,
    )
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), numbers),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10), words),
    )
    pipeline: Pipeline = make_pipeline(columns, trees)
    return TransformedTargetRegressor(pipeline, func=np.log1p, inverse_func=np.expm1)


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    features, prices = train.drop(columns=["Id", "SalePrice"]), train["SalePrice"]
    train_x, valid_x, train_y, valid_y = train_test_split(features, prices, random_state=1)

    model = make_model(features).fit(train_x, train_y)
    print(f"train MAE: {mean_absolute_error(train_y, model.predict(train_x)):.2f}")
    print(f"validation MAE: {mean_absolute_error(valid_y, model.predict(valid_x)):.2f}")

    # Validation is done: train on all houses with a known price.
    model = make_model(features).fit(features, prices)
    predictions = model.predict(test.drop(columns="Id"))
    submission = pd.DataFrame({"Id": test["Id"], "SalePrice": predictions})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
