"""Predicts log Papp by gradient boosting and ridge regression on pieces of the SMILES."""

import os

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge

SEED = int(os.environ.get("MLAB_SEED", "0"))
train = [line.rstrip("\n").split("\t") for line in open("data/train.smi")]
test = [line.rstrip("\n").split("\t") for line in open("data/test.smi")]
vectorizer = CountVectorizer(analyzer="char", lowercase=False, ngram_range=(1, 4), min_df=8)
X = vectorizer.fit_transform([row[0] for row in train]).toarray().astype(float)
T = vectorizer.transform([row[0] for row in test]).toarray().astype(float)
y = np.array([float(row[2]) for row in train])

held_out = np.random.default_rng(SEED).random(len(y)) < 0.2


def predict(X, y, T):
    boosted = GradientBoostingRegressor(
        n_estimators=250, max_depth=5, learning_rate=0.06, subsample=0.7, max_features=0.15, loss="huber", random_state=SEED
    ).fit(X, y)
    return 0.75 * boosted.predict(T) + 0.25 * Ridge(20.0).fit(np.log1p(X), y).predict(np.log1p(T))


error = np.abs(predict(X[~held_out], y[~held_out], X[held_out]) - y[held_out]).mean()
print(f"validation MAE: {error:.4f}")
with open("predictions.csv", "w") as handle:
    handle.write("name,log_papp\n")
    for row, value in zip(test, predict(X, y, T)):
        handle.write(f"{row[1]},{value:.4f}\n")
