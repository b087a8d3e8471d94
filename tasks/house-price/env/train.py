"""Predicts house prices, and writes submission.csv. The model is missing: see the gap."""

import os

import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))

FEATURES = [
    "MSSubClass",
    "LotArea",
    "OverallQual",
    "OverallCond",
    "YearBuilt",
    "YearRemodAdd",
    "1stFlrSF",
    "2ndFlrSF",
    "LowQualFinSF",
    "GrLivArea",
    "FullBath",
    "HalfBath",
    "BedroomAbvGr",
    "KitchenAbvGr",
    "TotRmsAbvGrd",
    "Fireplaces",
    "WoodDeckSF",
    "OpenPorchSF",
    "EnclosedPorch",
    "3SsnPorch",
    "ScreenPorch",
    "PoolArea",
    "MiscVal",
    "MoSold",
    "YrSold",
]


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    train_x, valid_x, train_y, valid_y = train_test_split(
        train[FEATURES], train["SalePrice"], random_state=1
    )

    # ---- The gap starts here -------------------------------------------------------------------
    # Fit a model on train_x and train_y. Define:
    #   model        an object whose predict() takes rows with the columns of FEATURES
    #   train_mae    mean absolute error of the model on train_x, train_y
    #   valid_mae    mean absolute error of the model on valid_x, valid_y
    # ---- The gap ends here ---------------------------------------------------------------------

    print(f"train MAE: {train_mae:.2f}")
    print(f"validation MAE: {valid_mae:.2f}")

    prices = model.predict(test[FEATURES])
    submission = pd.DataFrame({"Id": test["Id"], "SalePrice": prices})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
