"""Makes up lots of pears with the measurements of a sorting line and the class an inspector gave."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
import pandas as pd

from mlab_task.preparing import read_folders

TRAIN, TEST = 2400, 1500
CLASSES = ["extra", "first", "second", "juice"]

folders = read_folders()
rng = np.random.default_rng(77120)
n = TRAIN + TEST

varieties = ["Conference", "Abate", "Williams", "Comice", "Kaiser"]
variety = rng.choice(5, n, p=[0.35, 0.2, 0.2, 0.15, 0.1])
usual_weight = np.array([170, 210, 180, 230, 190])[variety]
usual_sugar = np.array([12.5, 13.2, 11.8, 14.0, 12.9])[variety]
orchard = rng.integers(0, 24, n)
orchard_care = rng.normal(0, 0.5, 24)
week = rng.integers(33, 42, n)
best_week = np.array([37, 36, 34, 38, 39])[variety]

ripeness = (week - best_week) * 0.7 + rng.normal(0, 0.6, n)
firmness = 6.0 - 0.75 * ripeness + rng.normal(0, 0.35, n)
sugar = usual_sugar + 0.5 * ripeness + 0.5 * orchard_care[orchard] + rng.normal(0, 0.5, n)
weight = usual_weight * np.exp(rng.normal(0.05 * orchard_care[orchard], 0.13, n))
length = 36 * np.cbrt(weight / 100) * np.array([1.32, 1.4, 1.05, 1.0, 1.25])[variety] * np.exp(rng.normal(0, 0.04, n))
width = 52 * np.cbrt(weight / 100) * np.exp(rng.normal(0, 0.04, n))
russet = np.clip(rng.beta(1.6, 6, n) + np.where(variety == 0, 0.2, 0), 0, 1)
spots = rng.poisson(np.exp(0.7 - 0.6 * orchard_care[orchard]), n)
bruise = np.where(rng.random(n) < 0.35, rng.gamma(1.5, 0.8, n), 0) * np.where(ripeness > 0.5, 1.5, 1)
hue = 105 - 6 * ripeness + rng.normal(0, 3, n)
storage = rng.choice(["none", "cold", "controlled"], n, p=[0.4, 0.35, 0.25])
storage_days = np.where(storage == "none", 0, rng.integers(5, 160, n))
decay = storage_days / np.where(storage == "controlled", 160, 60)

size = np.log(weight / usual_weight) / 0.13
scale = 2.8
extra = 1.3 * size - 0.55 * (ripeness * 1.1) ** 2 - np.where(variety == 0, 1, 7) * np.clip(russet - 0.15, 0, 1)
extra += -0.35 * spots - 1.6 * bruise + 0.9 * (sugar - usual_sugar) + 1.2 - 0.9 * decay
first = 0.4 * size - 0.25 * ripeness**2 - 0.15 * spots - 0.8 * bruise - 0.4 * decay + 1.0
second = -0.7 * np.abs(size + 0.8) - 0.2 * bruise + np.where((russet > 0.3) & (variety != 0), 1.2, 0) + 0.3
juice = -0.5 * size + 0.5 * np.clip(ripeness - 0.8, 0, 9) ** 2 + 0.9 * bruise + 1.1 * np.clip(decay - 1, 0, 9) * 2
juice += 0.2 * spots - 1.2 + np.where(firmness < 4, 1.5, 0)
scores = scale * np.column_stack([extra, first, second, juice]) + rng.gumbel(0, 1, (n, 4))
grade = scores.argmax(1)

table = pd.DataFrame(
    {
        "variety": np.array(varieties)[variety],
        "orchard": [f"o{k:02d}" for k in orchard],
        "week": week,
        "weight_g": weight.round(1),
        "length_mm": length.round(1),
        "width_mm": width.round(1),
        "firmness": firmness.round(2),
        "sugar_brix": sugar.round(2),
        "hue": hue.round(1),
        "russet": russet.round(3),
        "spots": spots,
        "bruise_cm2": bruise.round(2),
        "storage": storage,
        "storage_days": storage_days,
        "class": np.array(CLASSES)[grade],
    }
)
for column, share in {"firmness": 0.12, "sugar_brix": 0.2, "hue": 0.05, "russet": 0.04}.items():
    table.loc[rng.random(n) < share, column] = np.nan
table.insert(0, "lot", [f"L{k:05d}" for k in rng.permutation(99999)[:n]])

train, test = table[:TRAIN], table[TRAIN:]
train.to_csv(folders.public / "lots_graded.tsv", sep="\t", index=False, lineterminator="\n")
test.drop(columns="class").to_csv(folders.public / "lots_ungraded.csv", index=False, lineterminator="\n")
test[["lot", "class"]].to_csv(folders.private / "labels.csv", index=False, lineterminator="\n")
