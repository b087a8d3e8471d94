"""Boosted trees on the log of sales relative to the shop's level, with calendar and promotions."""

import os

import numpy as np
import pandas as pd
from metric import smape
from sklearn.ensemble import HistGradientBoostingRegressor

SEED = int(os.environ.get("MLAB_SEED", "0"))
HORIZON = 28
LEVEL_DAYS = 84


def with_features(table, shops, promotions):
    table = table.merge(shops, on="shop")
    spans = promotions.merge(table[["shop", "date"]], on="shop")
    spans = spans[(spans["date"] >= spans["first_day"]) & (spans["date"] <= spans["last_day"])]
    table = table.merge(spans[["shop", "date", "price_cut"]], on=["shop", "date"], how="left")
    table["price_cut"] = table["price_cut"].fillna(0)
    table["weekday"] = table["date"].dt.day_of_week
    angle = 2 * np.pi * table["date"].dt.day_of_year / 365.25
    table["cos"], table["sin"] = np.cos(angle), np.sin(angle)
    table["kind"], table["coast"] = table["kind"].astype("category").cat.codes, table["coast"].eq("yes") * 1
    return table


FEATURES = ["weekday", "price_cut", "cos", "sin", "kind", "coast", "area_m2", "shop_code"]


def predict(history, future, shops, promotions):
    both = with_features(pd.concat([history, future.assign(sold=np.nan)]), shops, promotions)
    both["shop_code"] = both["shop"].astype("category").cat.codes
    both["log"] = np.log1p(both["sold"])
    # level: the mean over the quarter that ends a horizon before the day, cleaned of promotions
    clean = both["log"] - 0.022 * both["price_cut"]
    wide = clean.to_frame("v").assign(shop=both["shop"], date=both["date"]).pivot(index="date", columns="shop", values="v")
    wide = wide.asfreq("D")
    level = wide.rolling(LEVEL_DAYS, min_periods=20).mean().ffill().shift(HORIZON)
    both = both.merge(level.stack().rename("level").reset_index(), on=["date", "shop"], how="left")
    known = both[both["sold"].notna() & both["level"].notna()]
    model = HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=120, learning_rate=0.1, min_samples_leaf=30,
        categorical_features=["kind", "shop_code", "weekday"], random_state=SEED,
    )  # fmt: skip
    model.fit(known[FEATURES], known["log"] - known["level"])
    asked = future.merge(both[both["sold"].isna()], on=["date", "shop"], how="left")
    return np.expm1(model.predict(asked[FEATURES]) + asked["level"]).to_numpy()


sales = pd.read_csv("data/sales.csv", parse_dates=["date"])
shops = pd.read_csv("data/shops.csv")
promotions = pd.read_csv("data/promotions.csv", parse_dates=["first_day", "last_day"])
test = pd.read_csv("data/test.csv", parse_dates=["date"])
cut = sales["date"].max() - pd.Timedelta(days=HORIZON)
held = sales[sales["date"] > cut]
guess = predict(sales[sales["date"] <= cut], held[["date", "shop"]], shops, promotions)
print(f"validation sMAPE: {smape(held['sold'], guess):.4f}")
test["sold"] = predict(sales, test[["date", "shop"]], shops, promotions)
test[["row", "sold"]].to_csv("forecast.csv", index=False)
