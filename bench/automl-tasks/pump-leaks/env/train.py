import os

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier


class LeakModel:
    """Which heat pumps will lose refrigerant in the next 90 days?"""

    NUMERIC = ["age_years", "outside_c", "run_hours", "starts", "years_since_service", "suction_bar",
               "discharge_bar", "superheat_k", "vibration_mm_s", "current_a"]
    CATEGORICAL = ["refrigerant", "mount", "site"]
    TARGET = "leak_90d"

    def __init__(self, max_depth=5, min_samples_leaf=20, class_weight="balanced", n_splits=5, seed=0):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.n_splits = n_splits
        self.seed = seed
        self.columns_ = None
        self.clf_ = None

    def load(self, path):
        return pd.read_csv(path, sep=";")

    def features(self, df):
        num = df[self.NUMERIC].fillna(0)
        cat = pd.get_dummies(df[self.CATEGORICAL].fillna("unknown"))
        X = pd.concat([num, cat], axis=1)
        if self.columns_ is None:
            self.columns_ = X.columns
        return X.reindex(columns=self.columns_, fill_value=0).astype(float)

    def target(self, df):
        return (df[self.TARGET] == "yes").astype(int)

    def make(self):
        return DecisionTreeClassifier(max_depth=self.max_depth, min_samples_leaf=self.min_samples_leaf,
                                      class_weight=self.class_weight, random_state=self.seed)

    def validate(self, df):
        X, y = self.features(df), self.target(df)
        table = []
        folds = StratifiedKFold(self.n_splits, shuffle=True, random_state=self.seed)
        for tr, va in folds.split(X, y):
            p = self.make().fit(X.iloc[tr], y.iloc[tr]).predict_proba(X.iloc[va])[:, 1]
            table.append([average_precision_score(y.iloc[va], p), roc_auc_score(y.iloc[va], p)])
        table = pd.DataFrame(table, columns=["avg_precision", "roc_auc"])
        table.index.name = "fold"
        table.loc["mean"] = table.mean()
        return table

    def fit(self, df):
        self.clf_ = self.make().fit(self.features(df), self.target(df))
        return self

    def score(self, df):
        return self.clf_.predict_proba(self.features(df))[:, 1]


if __name__ == "__main__":
    m = LeakModel(seed=int(os.environ.get("MLAB_SEED", "0")))
    train = m.load("data/inspections.csv")
    print(m.validate(train).round(4).to_string())
    m.fit(train)
    todo = m.load("data/to_score.csv")
    pd.DataFrame({"pump": todo["pump"], "leak_score": m.score(todo)}).to_csv("scores.csv", index=False)
