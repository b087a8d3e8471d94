"""Makes up boilers and the visits of a repair service to them; 1,200 visits are the hidden test."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np
import pandas as pd

from mlab_task.preparing import read_folders

BOILERS, TRAIN, TEST = 700, 2600, 1200
FAULTS = {  # share, minutes, parts
    "no heat": (0.22, 70, 90),
    "no hot water": (0.18, 60, 70),
    "leak": (0.14, 95, 60),
    "noise": (0.12, 45, 25),
    "error code": (0.16, 55, 110),
    "low pressure": (0.10, 30, 12),
    "yearly service": (0.08, 40, 18),
}
MAKERS = {"Vaskila": 1.0, "Thermex": 1.25, "Bodan": 0.85, "Kestrel": 1.1, "Ruhla": 0.95, "Ostrom": 1.5}

folders = read_folders()
rng = np.random.default_rng(20431)

makers = list(MAKERS)
boilers = pd.DataFrame(
    {
        "boiler_id": [f"B{n:04d}" for n in rng.permutation(9000)[:BOILERS]],
        "maker": rng.choice(makers, BOILERS, p=[0.3, 0.2, 0.2, 0.12, 0.12, 0.06]),
        "installed": rng.integers(1994, 2024, BOILERS),
        "power_kw": np.round(rng.gamma(6, 4.2, BOILERS) + 6, 1),
        "fuel": rng.choice(["gas", "oil", "pellet", "heat pump"], BOILERS, p=[0.55, 0.2, 0.1, 0.15]),
        "place": rng.choice(["cellar", "attic", "kitchen", "garage"], BOILERS, p=[0.5, 0.15, 0.25, 0.1]),
    }
)
quirk = rng.normal(0, 0.15, BOILERS)

count = TRAIN + TEST
at = rng.integers(0, BOILERS, count)
box = boilers.iloc[at].reset_index(drop=True)
names = list(FAULTS)
fault = rng.choice(names, count, p=[FAULTS[name][0] for name in names])
month = rng.integers(1, 13, count)
since_service = np.round(rng.exponential(14, count)).astype(int)
grade = rng.choice([1, 2, 3], count, p=[0.3, 0.5, 0.2])
storeys = rng.integers(0, 6, count)
contract = rng.random(count) < 0.45

age = 2024 - box["installed"].to_numpy()
maker = box["maker"].map(MAKERS).to_numpy()
fuel, place = box["fuel"].to_numpy(), box["place"].to_numpy()
power = box["power_kw"].to_numpy()
minutes = np.log(np.array([FAULTS[name][1] for name in fault], float))
minutes += 0.5 / (1 + np.exp(-(age - 15) / 2.5)) - 0.16 * (grade - 2) * np.where(fault == "error code", 3, 1)
minutes += np.where((place == "attic") & (storeys >= 3), 0.35, 0) + np.where(fuel == "pellet", 0.3, 0)
minutes += np.where((fuel == "heat pump") & np.isin(fault, ["no heat", "error code"]), 0.55, 0)
minutes += np.where(np.isin(month, [12, 1, 2]) & ~contract, 0.15, 0) + 0.22 * np.tanh((since_service - 24) / 8)
minutes += quirk[at] + rng.normal(0, 0.2, count)

parts = np.log(np.array([FAULTS[name][2] for name in fault], float)) + np.log(maker) * 1.5
parts += 0.014 * (power - 30) + np.where(fuel == "heat pump", 0.5, 0) + np.where(fuel == "oil", -0.2, 0)
parts += np.where((age > 20) & (fault != "yearly service"), 0.55, 0) - np.where(contract, 0.3, 0)
parts += 0.8 * quirk[at] + rng.normal(0, 0.28, count)

visits = pd.DataFrame(
    {
        "boiler_id": box["boiler_id"],
        "fault": fault,
        "month": month,
        "months_since_service": pd.array(since_service, dtype="Int64"),
        "technician_grade": grade,
        "storeys": storeys,
        "contract": np.where(contract, "yes", "no"),
        "minutes": np.round(np.exp(minutes)).astype(int),
        "parts_eur": np.round(np.exp(parts), 2),
    }
)
visits.loc[rng.random(count) < 0.14, "months_since_service"] = pd.NA
boilers.loc[rng.random(BOILERS) < 0.09, "power_kw"] = np.nan
boilers.loc[rng.random(BOILERS) < 0.05, "maker"] = np.nan
visits.insert(0, "visit", rng.permutation(90000)[:count] + 10000)

targets = ["minutes", "parts_eur"]
train, test = visits[:TRAIN], visits[TRAIN:]
boilers.sort_values("boiler_id").to_csv(folders.public / "boilers.csv", index=False, lineterminator="\n")
train.to_csv(folders.public / "visits.csv", index=False, lineterminator="\n")
test.drop(columns=targets).to_csv(folders.public / "visits_test.csv", index=False, lineterminator="\n")
test[["visit", *targets]].to_csv(folders.private / "labels.csv", index=False, lineterminator="\n")
