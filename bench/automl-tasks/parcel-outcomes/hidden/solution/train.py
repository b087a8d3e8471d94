"""One-hot columns with the depot, some crossed, in a linear model; class weights chosen out of fold."""

import os
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # several threads only get into each other's way here

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))
C = 1.0


def features(frame: pd.DataFrame) -> pd.DataFrame:
    f = frame.copy()
    f["log_weight"] = np.log(f["weight_kg"]).fillna(0.8)
    f["log_value"] = np.log(f["value_eur"]).fillna(3.8)
    f["evening"] = ((f["weekday"] >= 4) & (f["hour"] >= 16)).astype(float)
    f["packing"] = f["packing"].fillna(3)
    f["packed"] = f["packing"] * (f["goods"] != "clothing")
    f["reach"] = f["service"] + pd.cut(f["distance_km"], [0, 400, 800, 1e5], labels=["a", "b", "c"]).astype(str)
    dummies = pd.get_dummies(f[["depot", "goods", "reach"]].fillna("missing"), dtype=float)
    return pd.concat([f[["log_weight", "log_value", "stops", "evening", "packing", "packed"]], dummies], axis=1)


train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
both = features(pd.concat([train, test], ignore_index=True))
x, x_test, y = both.iloc[: len(train)], both.iloc[len(train) :], train["outcome"]
model = make_pipeline(MaxAbsScaler(), LogisticRegression(C=C, max_iter=1000))
folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
proba = cross_val_predict(model, x, y, cv=folds, method="predict_proba")
classes = np.unique(y)
prior = y.value_counts(normalize=True)[classes].to_numpy()
best, weights = max(
    ((f1_score(y, classes[(proba * (w := prior**-np.array(p))).argmax(1)], average="macro"), list(w))
     for p in product([0.1, 0.25, 0.4], [0.0], [0.2, 0.35, 0.5], [0.1, 0.25, 0.4])),
)
print(f"validation macro F1: {best:.4f}")
chosen = classes[(model.fit(x, y).predict_proba(x_test) * np.array(weights)).argmax(1)]
pd.DataFrame({"parcel": test["parcel"], "outcome": chosen}).to_csv("submission.csv", index=False)
