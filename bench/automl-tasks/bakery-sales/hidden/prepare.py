"""Makes up two years of daily sales of 30 bakeries; the four weeks after them are hidden."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

SHOPS, DAYS, AHEAD = 30, 730, 28
folders = read_folders()
rng = np.random.default_rng(88)
dates = np.datetime64("2022-05-02") + np.arange(DAYS + AHEAD)  # a Monday
weekday = np.arange(DAYS + AHEAD) % 7
day_of_year = (dates - dates.astype("datetime64[Y]")).astype(int)
season = np.cos(2 * np.pi * (day_of_year - 10) / 365.25)

shops, promotions, sales = [], [], []
weather = np.convolve(rng.normal(0, 0.12, DAYS + AHEAD + 2), [0.5, 0.3, 0.2], "valid")
for number in range(SHOPS):
    name = f"S{number + 1:02d}"
    kind = ["street", "station", "office", "mall"][rng.integers(4)]
    area, coast = int(rng.integers(25, 140)), rng.random() < 0.3
    closed = {"street": [0], "station": [], "office": [5, 6], "mall": [6]}[kind]
    week = np.array({
        "street": [0, -0.2, -0.2, 0, 0.2, 0.7, 0.5],
        "station": [0.1, 0.1, 0.05, 0.1, 0.35, -0.3, -0.45],
        "office": [0.15, 0.1, 0.1, 0, -0.6, 0, 0],
        "mall": [-0.35, -0.3, -0.2, 0, 0.2, 0.65, 0],
    }[kind]) + rng.normal(0, 0.05, 7)
    shops.append([name, kind, area, "yes" if coast else "no", int(rng.integers(1960, 2020))])

    reduction = np.zeros(DAYS + AHEAD, int)
    start = int(rng.integers(5, 30))
    while start < DAYS + AHEAD:
        length, cut = int(rng.integers(3, 11)), int(rng.choice([10, 20, 30]))
        end = min(start + length, DAYS + AHEAD)
        reduction[start:end] = cut
        promotions.append([name, dates[start], dates[end - 1], cut])
        start += length + int(rng.integers(7, 30))

    mean = (
        4.0 + 0.006 * area + rng.normal(0, 0.25) + np.arange(DAYS + AHEAD) / 365 * rng.normal(0.05, 0.1) + week[weekday]
        + (-0.4 if coast else 0.08) * season + weather + 0.03 * reduction * rng.uniform(0.6, 1.1)
        + rng.normal(0, 0.15, DAYS + AHEAD)
    )
    sold = rng.poisson(np.exp(mean))
    sold = np.where(rng.random(DAYS + AHEAD) < 0.006, sold // 4, sold)  # the oven broke
    open_ = ~np.isin(weekday, closed) & (rng.random(DAYS + AHEAD) > 0.01)
    sales += [[dates[day], name, sold[day], day] for day in range(DAYS + AHEAD) if open_[day]]

write_table(folders.public / "shops.csv", ["shop", "kind", "area_m2", "coast", "opened"], shops)
write_table(folders.public / "promotions.csv", ["shop", "first_day", "last_day", "price_cut"], promotions)
sales.sort(key=lambda row: (row[3], row[1]))
past = [row[:3] for row in sales if row[3] < DAYS]
write_table(folders.public / "sales.csv", ["date", "shop", "sold"], past)
future = [row for row in sales if row[3] >= DAYS]
order = order_by_content([row[:2] for row in future])
rows = [[number + 1, *future[place][:3]] for number, place in enumerate(order)]
write_hidden_test(folders, ["row", "date", "shop", "sold"], rows, "row", "sold")
