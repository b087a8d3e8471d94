# Expected effort of a repair visit: minutes on site and cost of parts.
import json
import os

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

cfg = {
    "seed": int(os.environ.get("MLAB_SEED", "0")),
    "valid_share": 0.25,
    "features": ["months_since_service", "technician_grade", "storeys", "month", "installed", "power_kw"],
    "targets": ["minutes", "parts_eur"],
    "alpha": 1.0,
}
print("config:", json.dumps(cfg))

boilers = pd.read_csv("data/boilers.csv")
visits = pd.read_csv("data/visits.csv").merge(boilers, on="boiler_id", how="left")
todo = pd.read_csv("data/visits_test.csv").merge(boilers, on="boiler_id", how="left")


def design(frame):
    X = frame[cfg["features"]].astype(float)
    X = X.fillna(visits[cfg["features"]].astype(float).mean())
    faults = pd.get_dummies(frame["fault"]).astype(float)
    return pd.concat([X, faults], axis=1)


X, Y = design(visits), visits[cfg["targets"]]
X_tr, X_va, Y_tr, Y_va = train_test_split(X, Y, test_size=cfg["valid_share"], random_state=cfg["seed"])
model = Ridge(alpha=cfg["alpha"]).fit(X_tr, Y_tr)
pred = model.predict(X_va)

print()
print("target      MAE      relative")
relative = []
for k, target in enumerate(cfg["targets"]):
    mae = np.abs(pred[:, k] - Y_va[target]).mean()
    base = np.abs(Y_va[target] - Y_va[target].median()).mean()
    relative.append(mae / base)
    print(f"{target:<10} {mae:7.2f}   {mae / base:.4f}")
print(f"mean                 {np.mean(relative):.4f}")

answer = model.predict(design(todo)).clip(min=0)
pd.DataFrame(
    {"visit": todo["visit"], "minutes_expected": answer[:, 0], "parts_expected": answer[:, 1]}
).to_csv("submission.csv", index=False)
