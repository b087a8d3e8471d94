"""Makes up three years of weekly orders of 28 bakery series; the last eight weeks are hidden."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
import pandas as pd

from mlab_task.preparing import read_folders

WEEKS, HORIZON = 156, 8
SHOPS = ["Dock", "Market", "Station", "Hill", "Campus", "Mill", "Harbour"]
ITEMS = {"rye": (7.0, 0.10, -3), "croissant": (4.0, -0.15, 3), "stollen": (9.0, 1.4, 0), "baguette": (3.0, -0.3, 10)}

folders = read_folders()
rng = np.random.default_rng(5092)
dates = pd.date_range("2022-01-03", periods=WEEKS, freq="7D")
week = dates.isocalendar().week.to_numpy().astype(float)
rows = []
for shop in SHOPS:
    level = rng.normal(0, 0.4)
    closed = set(rng.choice(np.arange(10, WEEKS - HORIZON - 4), 2, replace=False))
    for item, (price, winter, shift) in ITEMS.items():
        base = 4.2 + level + rng.normal(0, 0.35)
        trend = rng.normal(0.12, 0.18)
        elastic = rng.normal(2.2, 0.3)
        lift = abs(rng.normal(0.6, 0.15))
        amplitude = winter * rng.uniform(0.8, 1.2)
        wander = 0.0
        listed = price * np.exp(np.cumsum(np.where(rng.random(WEEKS) < 0.04, rng.normal(0.02, 0.05, WEEKS), 0)))
        for t in range(WEEKS):
            wander = 0.85 * wander + rng.normal(0, 0.05)
            promo = rng.random() < 0.18
            paid = listed[t] * (rng.choice([0.75, 0.85, 0.9]) if promo else 1)
            log = base + trend * t / 52 + amplitude * np.cos(2 * np.pi * (week[t] - 51 - shift) / 52)
            log += -elastic * np.log(paid / price) + (lift if promo else 0) + wander
            if shop == "Campus" and (week[t] in (51, 52, 53, 1) or 29 <= week[t] <= 36):
                log -= 0.9
            if week[t] in (51, 52):
                log += 0.35 if shop != "Campus" else 0
            units = rng.negative_binomial(50, 50 / (50 + np.exp(log)))
            if t in closed:
                units = 0
            rows.append([dates[t].strftime("%Y-%m-%d"), shop, item, round(float(paid), 2), int(promo), int(units), t])
table = pd.DataFrame(rows, columns=["week_start", "shop", "item", "price_eur", "promo", "units", "t"])
table = table.iloc[rng.permutation(len(table))].reset_index(drop=True)

past = table[table["t"] < WEEKS - HORIZON].drop(columns="t")
past = past[rng.random(len(past)) > 0.02]  # some weeks were not recorded
future = table[table["t"] >= WEEKS - HORIZON].drop(columns="t").reset_index(drop=True)
future.insert(0, "row", np.arange(1, len(future) + 1))
past.to_csv(folders.public / "orders.csv", index=False, lineterminator="\n")
future.drop(columns="units").to_csv(folders.public / "coming_weeks.csv", index=False, lineterminator="\n")
future[["row", "units"]].to_csv(folders.private / "labels.csv", index=False, lineterminator="\n")
