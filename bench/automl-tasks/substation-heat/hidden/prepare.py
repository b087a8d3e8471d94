"""Invents the daily heat of 14 substations of a district heating network, 2020 to April 2023.

The days from 1 November 2022 on are hidden; the weather of these days is public, as in a hindcast.
"""

import os
import sys

import numpy as np
import pandas as pd

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders

FIRST, SPLIT, LAST = "2020-01-01", "2022-11-01", "2023-04-30"

folders = read_folders()
rng = np.random.default_rng(4711)
days = pd.date_range(FIRST, LAST)
n = len(days)

# weather
season = -np.cos(2 * np.pi * (days.dayofyear.to_numpy() - 20) / 365.25)
anomaly = np.zeros(n)
for t in range(1, n):
    anomaly[t] = 0.82 * anomaly[t - 1] + rng.normal(0, 2.1)
temperature = 9.3 + 9.6 * season + anomaly
wind = rng.gamma(3.0, 1.3, n) + 0.8 * (season < 0)
sun = np.clip((5.5 + 4.2 * season) * rng.beta(1.3, 1.4, n) * 1.6, 0, 15)

# calendar
holidays = set()
for year in range(2020, 2024):
    for month_day in ("01-01", "01-06", "05-01", "10-03", "11-01", "12-24", "12-25", "12-26", "12-31"):
        holidays.add(f"{year}-{month_day}")
holidays |= {"2020-04-10", "2020-04-13", "2021-04-02", "2021-04-05", "2022-04-15", "2022-04-18", "2023-04-07", "2023-04-10"}
breaks = [("2020-02-24", "2020-02-28"), ("2020-04-06", "2020-04-18"), ("2020-07-27", "2020-09-07"), ("2020-10-31", "2020-11-06"),
          ("2020-12-23", "2021-01-09"), ("2021-03-29", "2021-04-10"), ("2021-07-30", "2021-09-13"), ("2021-11-02", "2021-11-05"),
          ("2021-12-24", "2022-01-08"), ("2022-02-28", "2022-03-04"), ("2022-04-11", "2022-04-23"), ("2022-08-01", "2022-09-12"),
          ("2022-10-31", "2022-11-04"), ("2022-12-24", "2023-01-07"), ("2023-02-20", "2023-02-24"), ("2023-04-03", "2023-04-15")]
text_days = days.strftime("%Y-%m-%d")
holiday = np.array([day in holidays for day in text_days])
school_break = np.zeros(n, bool)
for start, end in breaks:
    school_break |= (text_days >= start) & (text_days <= end)
weekend = days.dayofweek.to_numpy() >= 5

# buildings
kinds = ["flats", "flats", "flats", "flats", "flats", "office", "office", "office", "school", "school", "hotel", "hotel", "swimming pool", "hospital"]
stations, parts = [], []
for number, kind in enumerate(kinds):
    code = f"UW{number + 1:02d}"
    area = round(float(rng.uniform(1800, 14000)), -1)
    year = int(rng.choice([1928, 1957, 1964, 1972, 1985, 1998, 2011]))
    stations.append([code, kind, area, year])
    loss = area * (0.034 if year < 1980 else 0.022 if year < 2000 else 0.013) * rng.uniform(0.85, 1.15)
    memory = 0.35 + 0.35 * rng.random() + 0.1 * (year < 1940)
    felt = np.zeros(n)
    felt[0] = temperature[0]
    for t in range(1, n):
        felt[t] = memory * felt[t - 1] + (1 - memory) * temperature[t]
    base = rng.uniform(14.5, 17.0)
    demand = loss * np.clip(base - felt + 0.22 * (wind - 4) - 0.16 * sun, 0, None) ** 1.06
    if kind == "office":
        demand *= np.where(weekend | holiday, 0.55, 1.0) * np.where((text_days >= "2020-12-20") & (text_days <= "2021-01-03"), 0.7, 1)
        demand *= np.where((days.dayofweek == 0) & (felt < 10), 1.18, 1.0)  # warming up on Mondays
        water = area * 0.012 * np.where(weekend | holiday, 0.2, 1.0)
    elif kind == "school":
        demand *= np.where(school_break, 0.45, np.where(weekend | holiday, 0.6, 1.0))
        water = area * 0.01 * np.where(school_break | weekend, 0.1, 1.0)
    elif kind == "hotel":
        water = area * 0.055 * (1 + 0.25 * weekend + 0.35 * school_break + 0.2 * holiday)
    elif kind == "swimming pool":
        water = area * 0.30 * np.where(holiday, 0.5, 1 + 0.3 * weekend + 0.2 * school_break)
    elif kind == "hospital":
        water = area * 0.07 * np.ones(n)
    else:
        water = area * 0.045 * (1 + 0.1 * weekend + 0.15 * holiday - 0.1 * school_break)
    trend = 1 + rng.normal(0, 0.015) * (np.arange(n) / 365.25)
    if number in (1, 7):  # insulated in summer 2021
        trend = trend * np.where(text_days >= "2021-08-15", 0.74, 1.0)
    if number in (3, 5, 10):  # saves energy since autumn 2022
        trend = trend * np.where(text_days >= "2022-09-10", 0.88, 1.0)
    noise = np.zeros(n)
    width = 0.035 + 0.05 * rng.random()
    for t in range(1, n):
        noise[t] = 0.45 * noise[t - 1] + rng.normal(0, width) * (1.5 if weekend[t] else 1.0)
    heat = (demand * trend + water) * np.exp(noise) * (1 + 0.06 * rng.standard_t(4, n) * (rng.random(n) < 0.08))
    parts.append(pd.DataFrame({"station": code, "date": text_days, "heat_kwh": np.round(heat, 1)}))
heat = pd.concat(parts, ignore_index=True)

# broken meters in the training data: gaps, and zeros until somebody notices
known = heat["date"] < SPLIT
train = heat[known].copy()
for code in train["station"].unique():
    where = np.flatnonzero(train["station"] == code)
    for _ in range(int(rng.integers(2, 5))):
        start, length = int(rng.integers(0, len(where) - 30)), int(rng.integers(2, 15))
        column = train.columns.get_loc("heat_kwh")
        train.iloc[where[start : start + length], column] = np.nan if rng.random() < 0.6 else 0.0

test = heat[~known].copy()
test["id"] = test["station"] + "_" + test["date"].str.replace("-", "")
options = {"index": False, "lineterminator": "\n"}
train.to_csv(folders.public / "heat.csv", **options)
test[["id", "station", "date"]].to_csv(folders.public / "to_forecast.csv", **options)
pd.DataFrame(stations, columns=["station", "kind", "floor_area_m2", "built"]).to_csv(folders.public / "stations.csv", **options)
pd.DataFrame({
    "date": text_days, "temperature": np.round(temperature, 1), "wind": np.round(wind, 1), "sun_hours": np.round(sun, 1),
    "holiday": holiday.astype(int), "school_break": school_break.astype(int),
}).to_csv(folders.public / "days.csv", **options)
test[["id", "heat_kwh"]].to_csv(folders.private / "labels.csv", **options)
pd.DataFrame({
    "station": [s[0] for s in stations],
    "scale": [round(float(train.loc[(train["station"] == s[0]) & (train["heat_kwh"] > 0), "heat_kwh"].mean()), 3) for s in stations],
}).to_csv(folders.private / "scales.csv", **options)
