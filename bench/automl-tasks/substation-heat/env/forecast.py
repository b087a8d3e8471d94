# Heat forecast for the substations: a linear quantile regression per station.
#
# 1. join heat, days
# 2. fit q10 / q50 / q90 for every station
# 3. backtest on the last heating season, then forecast

import os

import numpy as np
import pandas as pd
from sklearn.linear_model import QuantileRegressor

SEED = int(os.environ.get("MLAB_SEED", "0"))  # nothing is random so far
DATA = "data/"
QUANTILES = [0.1, 0.5, 0.9]
FEATURES = ["temperature", "weekend"]
ALPHA = 0.0
BACKTEST_FROM, BACKTEST_TO = "2021-11-01", "2022-04-30"

np.random.seed(SEED)

heat = pd.read_csv(DATA + "heat.csv", parse_dates=["date"])
days = pd.read_csv(DATA + "days.csv", parse_dates=["date"])
todo = pd.read_csv(DATA + "to_forecast.csv", parse_dates=["date"])

days["weekend"] = (days["date"].dt.day_of_week >= 5).astype(int)

heat = heat.dropna(subset=["heat_kwh"]).merge(days, on="date", how="left")
todo = todo.merge(days, on="date", how="left")


def pinball(y, q, level):
    d = y - q
    return np.maximum(level * d, (level - 1) * d)


def fit_predict(past, future):
    """quantile forecasts for `future`, one column per level"""
    out = pd.DataFrame(index=future.index, columns=["q10", "q50", "q90"], dtype=float)
    for station, rows in past.groupby("station"):
        where = future["station"] == station
        for level, col in zip(QUANTILES, out.columns):
            m = QuantileRegressor(quantile=level, alpha=ALPHA, solver="highs")
            m.fit(rows[FEATURES], rows["heat_kwh"])
            out.loc[where, col] = m.predict(future.loc[where, FEATURES])
    return out


# ---- backtest
past = heat[heat["date"] < BACKTEST_FROM]
future = heat[(heat["date"] >= BACKTEST_FROM) & (heat["date"] <= BACKTEST_TO) & (heat["heat_kwh"] > 0)]
scale = future["station"].map(past[past["heat_kwh"] > 0].groupby("station")["heat_kwh"].mean())
q = fit_predict(past, future)
print("Backtest", BACKTEST_FROM, "to", BACKTEST_TO, "(% of the mean daily heat)")
losses = []
for level, col in zip(QUANTILES, q.columns):
    loss = 100 * (pinball(future["heat_kwh"], q[col], level) / scale).mean()
    below = (future["heat_kwh"] < q[col]).mean()
    losses.append(loss)
    print(f"   {col}   pinball {loss:7.3f}   share below {below:5.1%}")
print(f"   all   pinball {np.mean(losses):7.3f}")

# ---- forecast
q = fit_predict(heat, todo)
q.insert(0, "id", todo["id"])
q.round(2).to_csv("forecast.csv", index=False)
print("wrote forecast.csv,", len(q), "rows")
