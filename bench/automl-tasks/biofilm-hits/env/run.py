# quick baseline for the biofilm screen
import csv
import os

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from descriptors import describe

SEED = int(os.environ.get("MLAB_SEED", "0"))
C = 0.01
HOLDOUT = 0.3

smiles, y = [], []
for line in open("data/screened.smi"):
    s, _, active = line.rstrip("\n").split("\t")
    smiles.append(s)
    y.append(int(active))
X = np.array([describe(s) for s in smiles], dtype=float)
y = np.array(y)
print(len(y), "screened,", y.sum(), "active")

Xa, Xb, ya, yb = train_test_split(X, y, test_size=HOLDOUT, stratify=y, random_state=SEED)
scaler = StandardScaler().fit(Xa)
model = LogisticRegression(C=C, max_iter=500).fit(scaler.transform(Xa), ya)
print("AP on holdout:", round(average_precision_score(yb, model.decision_function(scaler.transform(Xb))), 4))

# refit on everything, rank the library
scaler = StandardScaler().fit(X)
model.fit(scaler.transform(X), y)
rows = list(csv.DictReader(open("data/unscreened.csv")))
scores = model.decision_function(scaler.transform(np.array([describe(r["smiles"]) for r in rows], dtype=float)))
with open("ranking.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["compound", "score"])
    w.writerows(zip((r["compound"] for r in rows), scores))
