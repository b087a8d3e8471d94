"""Gradient boosting on the logarithm of the hours, with all columns taken apart."""

import os

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

NOTES = ["SPARE NA", "2P", "NIGHT", "WTY", "REPEAT", "TEMP FIX", "PHOTO"]


def features(orders: pd.DataFrame) -> pd.DataFrame:
    opened = pd.to_datetime(orders["opened"], format="%d.%m.%Y %H:%M")
    table = pd.DataFrame(index=orders.index)
    for name in ("depot", "reporter"):
        table[name] = orders[name].astype("category")
    table["series"] = orders["vehicle"].str.split("-").str[0].astype("category")
    table["component"] = (orders["fault"].str[0] + orders["fault"].str[3:]).astype("category")
    table["subsystem"] = orders["fault"].str[0].astype("category")
    table["severity"] = orders["fault"].str[1].astype(int)
    table["car"] = orders["vehicle"].str.split("-").str[1].astype(int)
    table["mileage"] = orders["mileage_km"]
    table["temperature"] = orders["temperature"]
    table["weekend"] = opened.dt.day_of_week >= 5
    table["day"] = (opened - pd.Timestamp("2019-01-01")).dt.days
    table["waited"] = (opened - pd.to_datetime(orders["inspected"])).dt.days
    for note in NOTES:
        table[note.replace(" ", "_")] = orders["notes"].fillna("").str.split(";").map(lambda parts: note in parts)
    return table


train, test = pd.read_csv("data/orders.csv"), pd.read_csv("data/open_orders.csv")
both = features(pd.concat([train, test], ignore_index=True))
seed = int(os.environ.get("MLAB_SEED", "0"))
model = LGBMRegressor(
    n_estimators=400, learning_rate=0.05, num_leaves=15, subsample=0.8, subsample_freq=1, colsample_bytree=0.7,
    random_state=seed, verbose=-1,
)
model.fit(both[: len(train)], np.log1p(train["hours"]))
hours = np.expm1(model.predict(both[len(train) :])).clip(0)
pd.DataFrame({"order": test["order"], "hours": hours}).to_csv("estimates.csv", index=False)
