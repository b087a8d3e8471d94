"""Aggregates of the events beside the table, in a mean of two models."""

import os

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))
END = pd.Timestamp("2024-07-01")

train, test = pd.read_csv("data/subscribers.csv"), pd.read_csv("data/test.csv")
events = pd.read_csv("data/box_events.csv.gz", parse_dates=["day"])
events["ago"] = (END - events["day"]).dt.days


def features(table):
    base = table.set_index("subscriber_id")
    X = base[["household_size", "weekly_price_eur", "age"]].copy()
    X["age"] = X["age"].fillna(X["age"].median())
    X["tenure"] = (END - pd.to_datetime(base["joined"])).dt.days
    X = X.join(pd.get_dummies(base["found_us_by"]).astype(float))
    for days in (21, 45, 90, 182):
        counts = pd.crosstab(*(events.loc[events["ago"] <= days, c] for c in ("subscriber_id", "event")))
        X = X.join(counts.add_suffix(f"_{days}"))
    return X.fillna(0)


X, X_test, y = features(train), features(test), train["cancelled"].to_numpy()


def predict(X, y, X_new):
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000)).fit(X, y)
    trees = HistGradientBoostingClassifier(learning_rate=0.05, max_iter=120, max_depth=3, random_state=SEED)
    trees.fit(X, y)
    return (2 * linear.predict_proba(X_new)[:, 1] + trees.predict_proba(X_new)[:, 1]) / 3


X_a, X_b, y_a, y_b = train_test_split(X, y, test_size=0.25, random_state=SEED)
print(f"validation AUC: {roc_auc_score(y_b, predict(X_a, y_a, X_b)):.4f}")
test["p_cancel"] = predict(X, y, X_test)
test[["subscriber_id", "p_cancel"]].to_csv("cancel_scores.csv", index=False)
