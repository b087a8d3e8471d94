#!/usr/bin/env python3
"""Rank repair requests by urgency."""

import argparse
import os
import re
from collections import Counter

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import Ridge


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--train", default="data/messages.tsv")
    p.add_argument("--test", default="data/test.csv")
    p.add_argument("--out", default="urgency.csv")
    p.add_argument("--n-words", type=int, default=15, help="how many frequent words to count")
    p.add_argument("--alpha", type=float, default=1.0)
    p.add_argument("--folds", type=int, default=4)
    p.add_argument("--seed", type=int, default=int(os.environ.get("MLAB_SEED", "0")))
    return p.parse_args()


def words(text):
    return re.findall(r"[a-z]+", text.lower())


def featurize(texts, vocab):
    rows = []
    for t in texts:
        c = Counter(words(t))
        rows.append([len(t), t.count("!"), t.count("?"), sum(ch.isupper() for ch in t)] + [c[w] for w in vocab])
    return np.array(rows, dtype=float)


def main():
    args = parse_args()
    train = pd.read_csv(args.train, sep="\t").sample(frac=1, random_state=args.seed)
    test = pd.read_csv(args.test)
    y = train["urgency"].to_numpy()
    vocab = [w for w, _ in Counter(w for t in train["text"] for w in words(t)).most_common(args.n_words)]
    X = featurize(train["text"], vocab)

    print("fold  spearman  pearson")
    print("-----------------------")
    scores = []
    for k in range(args.folds):
        held = np.arange(len(y)) % args.folds == k
        pred = Ridge(alpha=args.alpha).fit(X[~held], y[~held]).predict(X[held])
        scores.append((spearmanr(y[held], pred)[0], pearsonr(y[held], pred)[0]))
        print(f"{k:4d}  {scores[-1][0]:8.4f}  {scores[-1][1]:7.4f}")
    print(f"mean  {np.mean([s for s, _ in scores]):8.4f}  {np.mean([p for _, p in scores]):7.4f}")

    model = Ridge(alpha=args.alpha).fit(X, y)
    test["urgency"] = model.predict(featurize(test["text"], vocab)).round(3)
    test[["msg", "urgency"]].to_csv(args.out, index=False)


if __name__ == "__main__":
    main()
