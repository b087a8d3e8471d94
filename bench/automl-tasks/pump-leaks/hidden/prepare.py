"""Made-up inspections of heat pumps, 5 % of which lose refrigerant within the next quarter."""

import csv
import os
import sys

import numpy as np
import pandas as pd

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders

rng = np.random.default_rng(90210)
N, TEST = 6000, 2400

model = rng.choice(["AX-4", "AX-6", "Borea 8", "Borea 12", "Celsa", "Duo", "Duo S"], N, p=[0.2, 0.18, 0.16, 0.14, 0.14, 0.1, 0.08])
installer = rng.choice([f"I{k:02d}" for k in range(1, 31)], N, p=rng.dirichlet(np.full(30, 1.6)))
quality = dict(zip([f"I{k:02d}" for k in range(1, 31)], rng.normal(0, 1, 30)))
refrigerant = np.where(np.isin(model, ["Duo", "Duo S", "Celsa"]), rng.choice(["R290", "R32"], N), rng.choice(["R32", "R410A"], N, p=[0.55, 0.45]))
age = np.round(rng.gamma(2.2, 2.6, N), 1)
month = rng.integers(1, 13, N)
outside = np.round(10 + 10 * np.sin((month - 4) / 12 * 2 * np.pi) + rng.normal(0, 4, N), 1)
site = rng.choice(["rural", "town", "coast"], N, p=[0.4, 0.42, 0.18])
hours = np.round(age * rng.normal(1750, 380, N).clip(600) + rng.normal(0, 90, N).clip(-50))
starts = np.round(hours * rng.lognormal(-0.3, 0.5, N))
serviced = np.round(np.minimum(age, rng.exponential(2.0, N)), 1)
mount = rng.choice(["roof", "ground", "wall"], N, p=[0.2, 0.5, 0.3])
charge = np.where(refrigerant == "R290", 1.1, 2.2) + rng.normal(0, 0.1, N)

slow = rng.exponential(1, N)  # how much is lost already; never published
suction = 4.2 + 0.085 * outside + 2.1 * (refrigerant == "R410A") - 0.9 * (refrigerant == "R290") - 0.24 * slow + rng.normal(0, 0.22, N)
discharge = 14 + 0.31 * outside + 4.8 * (refrigerant == "R410A") - 2.0 * (refrigerant == "R290") - 0.3 * slow + rng.normal(0, 0.8, N)
superheat = 6 + 1.5 * slow + rng.normal(0, 1.8, N)
vibration = np.exp(rng.normal(0.1, 0.4, N) + 0.25 * (mount == "wall"))
current = 5 + 0.14 * discharge + rng.normal(0, 0.5, N)

wear = starts / 9000
risk = (
    1.0 * slow
    + 1.1 * np.maximum(wear - 1.6, 0) ** 0.7
    + 1.7 * (vibration > 1.9) * (mount == "wall")
    + 1.5 * ((site == "coast") & (age > 6) & (mount != "wall"))
    + 0.8 * np.array([quality[i] for i in installer]) * (age < 5)
    + 0.35 * serviced
    + 1.2 * ((refrigerant == "R410A") & (serviced > 2.5))
    + 0.7 * np.cos((month - 1) / 12 * 2 * np.pi)
    - 0.4 * (model == "Celsa")
    + rng.logistic(0, 0.42, N)
)
leak = (risk > np.quantile(risk, 0.952)).astype(int)

frame = pd.DataFrame({
    "model": model, "installer": installer, "refrigerant": refrigerant, "age_years": age, "inspection_month": month,
    "outside_c": outside, "site": site, "mount": mount, "run_hours": hours, "starts": starts, "years_since_service": serviced,
    "charge_kg": np.round(charge, 2), "suction_bar": np.round(suction, 2), "discharge_bar": np.round(discharge, 1),
    "superheat_k": np.round(superheat, 1), "vibration_mm_s": np.round(vibration, 2), "current_a": np.round(current, 2),
})
frame.loc[rng.random(N) < 0.09, "vibration_mm_s"] = np.nan
frame.loc[rng.random(N) < 0.06, "superheat_k"] = np.nan
frame.loc[rng.random(N) < 0.12 + 0.15 * (age > 9), "years_since_service"] = np.nan
frame.loc[rng.random(N) < 0.05, "site"] = np.nan

order = order_by_content(frame.astype(str).values.tolist())
frame = frame.iloc[order].reset_index(drop=True)
leak = leak[order]
frame.insert(0, "pump", [f"P{k:05d}" for k in range(10000, 10000 + N)])
folders = read_folders()
train = frame.iloc[TEST:].copy()
train["leak_90d"] = np.where(leak[TEST:] == 1, "yes", "no")
train.to_csv(folders.public / "inspections.csv", index=False, sep=";", lineterminator="\n")
frame.iloc[:TEST].to_csv(folders.public / "to_score.csv", index=False, sep=";", lineterminator="\n")
# the ids once more, comma-separated, for the format check
pd.DataFrame({"pump": frame["pump"][:TEST]}).to_csv(folders.public / "sample_ids.csv", index=False, lineterminator="\n")
with open(folders.private / "labels.csv", "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([["pump", "leak"], *zip(frame["pump"][:TEST], leak[:TEST].tolist())])
