import csv
import os

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

SEED = int(os.environ.get("MLAB_SEED", "0"))
train = [line.rstrip("\n").split("\t") for line in open("data/screened.smi")]
rows = list(csv.DictReader(open("data/unscreened.csv")))
y = np.array([int(t[2]) for t in train])
vectorizer = CountVectorizer(analyzer="char", ngram_range=(1, 7), lowercase=False, min_df=25, binary=True)
X = vectorizer.fit_transform([t[0] for t in train]).astype(float)
T = vectorizer.transform([r["smiles"] for r in rows]).astype(float)
linear = LogisticRegression(C=0.02, max_iter=2000).fit(X, y).decision_function(T)
kept = np.argsort(-np.abs(np.corrcoef(X.toarray().T, y)[-1, :-1]))[:150]
boosted = HistGradientBoostingClassifier(max_iter=120, learning_rate=0.05, max_leaf_nodes=8, random_state=SEED)
boosted = boosted.fit(X[:, kept].toarray(), y).decision_function(T[:, kept].toarray())
scores = rankdata(linear) + rankdata(boosted)
with open("ranking.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["compound", "score"])
    w.writerows(zip((r["compound"] for r in rows), scores))
