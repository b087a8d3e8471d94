"""Makes up parcels: four outcomes, of which three are rare, with depots that differ."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

OUTCOMES = ["delivered", "late", "damaged", "lost"]
TRAIN, TEST = 9000, 5000
folders = read_folders()
rng = np.random.default_rng(20260311)
n = TRAIN + TEST

depots = 160
busy = rng.normal(0, 1.3, depots)  # late parcels
rough = rng.normal(0, 1.3, depots)  # damaged parcels
leaky = rng.normal(0, 1.1, depots)  # lost parcels
codes = rng.permutation(900)[:depots] + 100
depot = rng.choice(depots, n, p=rng.dirichlet(np.full(depots, 4.0)))
goods = rng.choice(["clothing", "books", "electronics", "glass", "food", "furniture"], n, p=[0.3, 0.2, 0.2, 0.08, 0.12, 0.1])
service = rng.choice(["standard", "express", "economy"], n, p=[0.6, 0.2, 0.2])
weight = rng.lognormal(0.8, 0.9, n) * np.where(goods == "furniture", 6, 1)
value = rng.lognormal(3.6, 0.9, n) * np.where(goods == "electronics", 4, 1)
distance = rng.gamma(2, 190, n) + 5
stops = np.minimum(1 + rng.poisson(distance / 250), 8)
weekday = rng.integers(0, 7, n)
hour = rng.integers(6, 22, n)
packing = rng.integers(1, 6, n)
printer = rng.choice(["A4", "A6", "thermal", "unknown"], n)

late = (-3.9 + busy[depot] + 0.45 * (stops - 2) + 1.5 * ((weekday >= 4) & (hour >= 16))
        + 1.0 * (service == "economy") - 0.9 * (service == "express") * (distance < 400)
        + 1.4 * (service == "express") * (distance > 800))
damaged = (-5.3 + rough[depot] + 2.6 * (goods == "glass") + 1.3 * (goods == "furniture") + 0.5 * np.log(weight)
           - 0.6 * (packing - 3) * np.where(goods == "clothing", 0, 1))
lost = -6.1 + leaky[depot] + 0.9 * (np.log(value) - 3.6) + 1.3 * (goods == "electronics") + 0.25 * stops
utility = np.stack([np.zeros(n), late, damaged, lost], 1) * 1.5 + rng.gumbel(0, 1, (n, 4))
outcome = utility.argmax(1)

def blank(values, share):
    return np.where(rng.random(n) < share, "", values)

columns = {
    "depot": [f"D{codes[d]}" for d in depot],
    "goods": blank(goods, 0.05),
    "service": service,
    "weight_kg": blank([f"{w:.2f}" for w in weight], 0.08),
    "value_eur": blank([f"{v:.0f}" for v in value], np.where(goods == "books", 0.4, 0.1)),
    "distance_km": [f"{d:.0f}" for d in distance],
    "stops": stops,
    "weekday": weekday,
    "hour": blank(hour.astype(str), 0.04),
    "packing": blank(packing.astype(str), 0.15),
    "label_printer": printer,
}
public = [list(map(str, row)) for row in zip(*columns.values())]

def numbered(positions, start):
    chosen = [public[i] for i in positions]
    order = order_by_content(chosen)
    return [[start + k, *chosen[j], OUTCOMES[outcome[positions[j]]]] for k, j in enumerate(order)]

header = ["parcel", *columns, "outcome"]
write_table(folders.public / "train.csv", header, numbered(range(TRAIN), 1))
write_hidden_test(folders, header, numbered(range(TRAIN, n), 100001), "parcel", "outcome")
