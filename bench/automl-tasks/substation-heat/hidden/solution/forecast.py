"""Quantile boosting on the ratio of heat to a station's recent level, with lagged weather."""

import os

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import HuberRegressor

SEED = int(os.environ.get("MLAB_SEED", "0"))
heat = pd.read_csv("data/heat.csv", parse_dates=["date"])
days = pd.read_csv("data/days.csv", parse_dates=["date"])
todo = pd.read_csv("data/to_forecast.csv", parse_dates=["date"])
stations = pd.read_csv("data/stations.csv")

days["dow"] = days["date"].dt.day_of_week
days["free"] = ((days["dow"] >= 5) | (days["holiday"] == 1)).astype(int)
for memory in (0.4, 0.6, 0.75):
    days[f"felt{memory}"] = days["temperature"].ewm(alpha=1 - memory, adjust=False).mean()
for base in (14, 16):
    days[f"cold{base}"] = (base - days["felt0.6"] + 0.2 * (days["wind"] - 4) - 0.15 * days["sun_hours"]).clip(lower=0)
heat = heat[heat["heat_kwh"] > 0].merge(days, on="date").merge(stations, on="station")
todo = todo.merge(days, on="date").merge(stations, on="station")
LINEAR = ["felt0.4", "felt0.6", "felt0.75", "cold14", "cold16", "wind", "sun_hours", "free", "school_break", "holiday", "monday", "cold_free", "cold_break", "recent"]
for table in (heat, todo):
    table["monday"] = (table["dow"] == 0) * table["cold16"]
    table["cold_free"] = table["free"] * table["cold16"]
    table["cold_break"] = table["school_break"] * table["cold16"]


def fit_predict(past, future, start):
    start = pd.Timestamp(start)
    past = past[past["date"] < start].copy()
    future = future.copy()
    weight = 0.5 ** ((start - past["date"]).dt.days / 300)
    for table in (past, future):
        table["recent"] = 0.0
    recent = past["date"] >= start - pd.Timedelta(days=50)
    for station in past["station"].unique():
        a, b = past["station"] == station, future["station"] == station
        model = HuberRegressor(max_iter=2000, alpha=1e-3)
        mean, std = past.loc[a, LINEAR].mean(), past.loc[a, LINEAR].std() + 1e-9
        size = past.loc[a, "heat_kwh"].mean()
        model.fit((past.loc[a, LINEAR] - mean) / std, past.loc[a, "heat_kwh"] / size, sample_weight=weight[a])
        for table, rows in ((past, a), (future, b)):
            table.loc[rows, "line"] = np.clip(model.predict((table.loc[rows, LINEAR] - mean) / std), 0.03, None) * size
        level = (past.loc[a & recent, "heat_kwh"] / past.loc[a & recent, "line"]).median()
        future.loc[b, "line"] *= 0.4 + 0.6 * level
    features = ["station", "kind", "felt0.6", "temperature", "cold16", "dow", "free", "school_break", "holiday"]
    encoded = {}
    for name, table in (("past", past), ("future", future)):
        encoded[name] = table[features].assign(**{c: table[c].map({v: i for i, v in enumerate(sorted(past[c].unique()))}) for c in ("station", "kind")})
    out = pd.DataFrame({"id": future.get("id", pd.Series(index=future.index))})
    target = np.log(past["heat_kwh"] / past["line"])
    for column, level in (("q10", 0.1), ("q50", 0.5), ("q90", 0.9)):
        model = HistGradientBoostingRegressor(
            loss="quantile", quantile=level, max_iter=120, learning_rate=0.06, max_leaf_nodes=12, min_samples_leaf=30, random_state=SEED
        ).fit(encoded["past"], target, sample_weight=weight)
        out[column] = future["line"] * np.exp(model.predict(encoded["future"]) * 0.9 + (level - 0.5) * 0.05)
    return out


season = heat[(heat["date"] >= "2021-11-01") & (heat["date"] <= "2022-04-30")]
q = fit_predict(heat, season, "2021-11-01")
scale = season["station"].map(heat[heat["date"] < "2021-11-01"].groupby("station")["heat_kwh"].mean())
losses = []
for column, level in (("q10", 0.1), ("q50", 0.5), ("q90", 0.9)):
    d = (season["heat_kwh"] - q[column]) / scale
    losses.append(100 * np.maximum(level * d, (level - 1) * d).mean())
print("validation pinball loss:", round(np.mean(losses), 4), np.round(losses, 3))
fit_predict(heat, todo, "2022-11-01").to_csv("forecast.csv", index=False)
