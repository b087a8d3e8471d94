"""Substrings of two to five letters, with a weighted linear classifier."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # several threads only get into each other's way here

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

SEED = int(os.environ.get("MLAB_SEED", "0"))
C = 1.0


def model():
    grams = TfidfVectorizer(analyzer="char", lowercase=False, ngram_range=(2, 5), min_df=5, binary=True, norm=None)
    return make_pipeline(grams, LogisticRegression(C=0.003 * C, class_weight="balanced", max_iter=500))


train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
fit, held = train_test_split(train, test_size=0.2, random_state=SEED, stratify=train.fault)
guess = model().fit(fit.events, fit.fault).predict(held.events)
print(f"validation balanced accuracy: {balanced_accuracy_score(held.fault, guess):.4f}")
test["fault"] = model().fit(train.events, train.fault).predict(test.events)
test[["log_id", "fault"]].to_csv("predictions.csv", index=False)
