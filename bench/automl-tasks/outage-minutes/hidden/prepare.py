"""Makes up power cuts: how long each lasted, in minutes, with a long tail."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN, TEST = 4000, 3000
folders = read_folders()
rng = np.random.default_rng(5150)
n = TRAIN + TEST

minute = rng.integers(0, 3 * 365 * 24 * 60, n)
when = np.datetime64("2021-01-01T00:00") + minute.astype("timedelta64[m]")
day = minute // 1440
hour = minute // 60 % 24
weekend = (day + 4) % 7 >= 5  # 1 January 2021 was a Friday
winter = np.cos(2 * np.pi * (day - 15) / 365.25)

district_pull = rng.normal(0, 0.35, 12)
district = rng.integers(0, 12, n)
cause = rng.choice(["tree", "cable", "animal", "digger", "switchgear", "unknown"], n, p=[0.22, 0.2, 0.13, 0.12, 0.15, 0.18])
pull = {"tree": 0.4, "cable": 1.0, "animal": -0.8, "digger": 1.2, "switchgear": -0.2, "unknown": -0.4}
line = rng.choice(["overhead", "buried"], n, p=[0.55, 0.45])
wind = rng.weibull(1.8, n) * (24 + 9 * winter)
households = np.round(rng.lognormal(4.5, 1.1, n) + 1)
depot_km = rng.gamma(2.2, 8, n)
line_age = rng.integers(0, 60, n)
crews = rng.integers(1, 9, n)

log_minutes = (
    4.2 + district_pull[district] + np.array([pull[c] for c in cause]) + 0.5 * winter
    + np.where((hour >= 22) | (hour < 6), 0.7, 0.0) + 0.45 * weekend - 0.0006 * day
    + np.where(line == "overhead", 0.03 * np.maximum(wind - 20, 0), 0.35)
    + 0.35 * np.log1p(depot_km) - 0.16 * np.log(households) - 0.4 * np.log(crews) + 0.008 * line_age
    + rng.normal(0, 0.45, n)
)
minutes = np.maximum(np.round(np.exp(log_minutes)), 1).astype(int)

def blank(values, share):
    return np.where(rng.random(n) < share, "", values)

columns = {
    "reported_at": np.char.replace(np.datetime_as_string(when, unit="m"), "T", " "),
    "district": np.array([f"district {d + 1}" for d in district]),
    "cause": cause,
    "line": line,
    "wind_kmh": blank([f"{w:.1f}" for w in wind], 0.07),
    "households": households.astype(int),
    "depot_km": [f"{k:.1f}" for k in depot_km],
    "line_age": blank(line_age.astype(str), 0.12),
    "crews_on_duty": crews,
    "operator_id": rng.integers(1000, 1040, n),
}
public = [list(map(str, row)) for row in zip(*columns.values())]

def numbered(positions, start):
    chosen = [public[i] for i in positions]
    order = order_by_content(chosen)
    return [[start + k, *chosen[j], minutes[positions[j]]] for k, j in enumerate(order)]

header = ["outage", *columns, "minutes"]
write_table(folders.public / "train.csv", header, numbered(range(TRAIN), 1))
write_hidden_test(folders, header, numbered(range(TRAIN, n), 50001), "outage", "minutes")
