"""First try at parcel outcomes: logistic regression on whatever is numeric."""

import os

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))
VALIDATION_SHARE = 0.2
C = 1.0


class ParcelClassifier:
    """Scaled numbers and one-hot goods and service into a linear model."""

    NUMBERS = ["weight_kg", "value_eur", "distance_km", "stops", "weekday", "hour", "packing"]
    CATEGORIES = ["goods", "service", "label_printer"]  # TODO depot: too many values for one-hot?

    def __init__(self, c: float = C):
        self.model = make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=500))
        self.columns = None

    def _features(self, frame: pd.DataFrame) -> pd.DataFrame:
        numbers = frame[self.NUMBERS].fillna(0)
        dummies = pd.get_dummies(frame[self.CATEGORIES].fillna("missing"), dtype=float)
        return pd.concat([numbers, dummies], axis=1)

    def fit(self, frame: pd.DataFrame, y: pd.Series) -> "ParcelClassifier":
        x = self._features(frame)
        self.columns = x.columns
        self.model.fit(x, y)
        return self

    def predict(self, frame: pd.DataFrame):
        x = self._features(frame).reindex(columns=self.columns, fill_value=0.0)
        return self.model.predict(x)


if __name__ == "__main__":
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")

    fit_part, val_part = train_test_split(
        train, test_size=VALIDATION_SHARE, random_state=SEED, stratify=train["outcome"]
    )
    clf = ParcelClassifier().fit(fit_part, fit_part["outcome"])
    macro = f1_score(val_part["outcome"], clf.predict(val_part), average="macro")
    print(f"Validation macro F1: {100 * macro:.1f}%")

    clf = ParcelClassifier().fit(train, train["outcome"])
    out = pd.DataFrame({"parcel": test["parcel"], "outcome": clf.predict(test)})
    out.to_csv("submission.csv", index=False)
