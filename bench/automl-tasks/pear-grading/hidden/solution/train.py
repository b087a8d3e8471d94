"""Boosted trees and a logistic regression on squares and products, mixed half and half."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))
CLASSES = ["extra", "first", "second", "juice"]

train = pd.read_csv("data/lots_graded.tsv", sep="\t")
test = pd.read_csv("data/lots_ungraded.csv")
both = pd.concat([train.drop(columns="class"), test], ignore_index=True)
y = train["class"].map(CLASSES.index).to_numpy()

# how a lot differs from its variety
for column in ["weight_g", "sugar_brix", "length_mm", "width_mm", "hue", "firmness", "week", "russet"]:
    both[f"{column}_own"] = both[column] - both.groupby("variety")[column].transform("median")
both["russet_bad"] = np.where(both["variety"] == "Conference", 0, both["russet"])
both["cold_days"] = both["storage_days"] * (both["storage"] == "cold")
both["controlled_days"] = both["storage_days"] * (both["storage"] == "controlled")

trees_in = both.drop(columns=["lot"]).copy()
for column in ["variety", "orchard", "storage"]:
    trees_in[column] = pd.Categorical(trees_in[column])
smooth = both.drop(columns=["lot", "variety", "orchard", "storage"]).astype(float)
smooth = smooth.drop(columns=["weight_g", "sugar_brix", "length_mm", "width_mm", "week", "storage_days", "russet"])
smooth = smooth.fillna(smooth.median())

boosted = HistGradientBoostingClassifier(
    learning_rate=0.06, max_iter=70, max_leaf_nodes=8, min_samples_leaf=15, l2_regularization=2,
    max_features=0.5, categorical_features="from_dtype", random_state=SEED,
)
curved = make_pipeline(
    StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler(), LogisticRegression(C=0.02, max_iter=150)
)
n = len(train)
fit, val = train_test_split(np.arange(n), test_size=0.25, stratify=y, random_state=SEED)
parts = [(boosted, trees_in), (curved, smooth)]
inside = [model.fit(X.iloc[fit], y[fit]).predict_proba(X.iloc[val]) for model, X in parts]
for part in inside:
    print(f"alone: {log_loss(y[val], part):.4f}")
print(f"validation log loss: {log_loss(y[val], np.mean(inside, axis=0)):.4f}")

mixed = np.mean([model.fit(X[:n], y).predict_proba(X[n:]) for model, X in parts], axis=0)
Path("out").mkdir(exist_ok=True)
out = pd.DataFrame(mixed, columns=[f"p_{name}" for name in CLASSES])
out.insert(0, "lot", test["lot"])
out.to_csv("out/probabilities.csv", index=False)
