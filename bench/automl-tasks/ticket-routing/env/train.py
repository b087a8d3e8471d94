#!/usr/bin/env python3
"""Routes tickets of the help desk to departments."""

import argparse
import json
import os

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train-file", default="data/tickets.jsonl")
    parser.add_argument("--test-file", default="data/new_tickets.csv")
    parser.add_argument("--output", default="routes.csv")
    parser.add_argument("--max-features", type=int, default=150, help="size of the vocabulary")
    parser.add_argument("--min-df", type=int, default=2)
    parser.add_argument("--ngram-max", type=int, default=1)
    parser.add_argument("--alpha", type=float, default=1.0, help="smoothing of naive Bayes")
    parser.add_argument("--val-fraction", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MLAB_SEED", "0")))
    return parser.parse_args()


def main(args):
    with open(args.train_file, encoding="utf-8") as f:
        tickets = pd.DataFrame([json.loads(line) for line in f])
    train, val = train_test_split(tickets, test_size=args.val_fraction, random_state=args.seed)

    vectorizer = CountVectorizer(
        max_features=args.max_features, min_df=args.min_df, ngram_range=(1, args.ngram_max)
    )
    clf = MultinomialNB(alpha=args.alpha)
    clf.fit(vectorizer.fit_transform(train["text"]), train["department"])

    predicted = clf.predict(vectorizer.transform(val["text"]))
    print(classification_report(val["department"], predicted, zero_division=0, digits=3))
    print(f"macro-F1 on validation: {100 * f1_score(val['department'], predicted, average='macro', zero_division=0):.2f}%")

    test = pd.read_csv(args.test_file)
    test["route_to"] = clf.predict(vectorizer.transform(test["text"]))
    test[["id", "route_to"]].to_csv(args.output, index=False)


if __name__ == "__main__":
    main(parse_args())
