"""Predicts the output of a power plant by linear regression, and writes submission.csv."""

import os

import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))

COLUMNS = ["temperature", "exhaust_vacuum"]
VALIDATION_SHARE = 0.2


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    conditions, output = train[COLUMNS], train["output"]
    train_x, valid_x, train_y, valid_y = train_test_split(
        conditions, output, test_size=VALIDATION_SHARE, random_state=SEED
    )

    model = LinearRegression().fit(train_x, train_y)
    print(f"train RMSE: {root_mean_squared_error(train_y, model.predict(train_x)):.4f}")
    print(f"validation RMSE: {root_mean_squared_error(valid_y, model.predict(valid_x)):.4f}")

    predictions = model.fit(conditions, output).predict(test[COLUMNS])
    submission = pd.DataFrame({"id": test["id"], "output": predictions})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
