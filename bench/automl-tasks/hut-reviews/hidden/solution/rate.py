"""Ridge regression on word n-grams with marked negations, and thresholds chosen by cross-validation."""

import csv
import json
import os
import re

import numpy as np
from scipy.optimize import minimize
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline, make_union

SEED = int(os.environ.get("MLAB_SEED", "0"))


def load(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def tokens(text):
    text = text.lower().replace("!!", " veryvery ")
    out = []
    for sentence in re.split(r"[.!]", text):
        negated, heard, after = "", "had heard" in sentence, ""
        for word in re.findall(r"[a-z']+", sentence):
            if word == "but" and not heard:
                after, negated = "", ""
            mark = negated or ("heard_" if heard else "")
            out.append(after + mark + word)
            if word in ("not", "never"):
                negated = "not_"
            elif word == "and":
                negated = ""
    return out + [a + " " + b for a, b in zip(out, out[1:])]


def model():
    words = TfidfVectorizer(analyzer=tokens, min_df=2, sublinear_tf=True)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=4, sublinear_tf=True)
    return make_pipeline(make_union(words, letters), Ridge(1.0))


train, test = load("data/train.jsonl"), load("data/test.jsonl")
texts, stars = [row["text"] for row in train], np.array([row["stars"] for row in train])
guess = cross_val_predict(model(), texts, stars, cv=KFold(5, shuffle=True, random_state=SEED))
start = np.quantile(guess, np.cumsum(np.bincount(stars)[1:5]) / len(stars))
cuts = minimize(
    lambda c: -cohen_kappa_score(stars, 1 + np.digitize(guess, np.sort(c)), weights="quadratic"), start, method="Nelder-Mead"
).x
print(f"validation QWK: {cohen_kappa_score(stars, 1 + np.digitize(guess, np.sort(cuts)), weights='quadratic'):.4f}")
final = model().fit(texts, stars).predict([row["text"] for row in test])
with open("stars.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "stars"])
    writer.writerows([row["id"], s] for row, s in zip(test, 1 + np.digitize(final, np.sort(cuts))))
