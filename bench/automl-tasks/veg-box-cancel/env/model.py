# who cancels? first try, only the subscriber table for now
import os

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))
COLS = ["weekly_price_eur", "household_size", "age"]

df = pd.read_csv("data/subscribers.csv")
test = pd.read_csv("data/test.csv")

X = df[COLS].fillna(0)
y = df["cancelled"]
print("subscribers:", len(df), "cancelled:", y.sum())

X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, random_state=SEED)

clf = LogisticRegression(max_iter=500)
clf.fit(X_tr, y_tr)

auc = roc_auc_score(y_va, clf.predict_proba(X_va)[:, 1])
print(f"Validation AUC: {100 * auc:.1f}%")

out = test[["subscriber_id"]].copy()
out["p_cancel"] = np.round(clf.predict_proba(test[COLS].fillna(0))[:, 1], 5)
out.to_csv("cancel_scores.csv", index=False)
