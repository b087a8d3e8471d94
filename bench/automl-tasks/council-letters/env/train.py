"""Bag of words and naive Bayes, written by hand."""

import csv
import math
import os
import random
from collections import Counter

OFFICES = ["streets", "parks", "waste"]
ALPHA = 0.05  # added to every count
MIN_COUNT = 1
FOLDS = 10
REPEATS = 6
SEED = int(os.environ.get("MLAB_SEED", "0"))


def tokenize(text):
    return text.split()


class NaiveBayes:
    def __init__(self, alpha=ALPHA, min_count=MIN_COUNT):
        self.alpha = alpha
        self.min_count = min_count

    def fit(self, texts, offices):
        totals = Counter(word for text in texts for word in tokenize(text))
        self.vocabulary = {word for word, count in totals.items() if count >= self.min_count}
        self.priors = {o: math.log(offices.count(o) / len(offices)) for o in OFFICES}
        self.log_chances = {}
        for office in OFFICES:
            counts = Counter(
                word
                for text, o in zip(texts, offices)
                if o == office
                for word in tokenize(text)
                if word in self.vocabulary
            )
            total = sum(counts.values()) + self.alpha * len(self.vocabulary)
            self.log_chances[office] = {
                word: math.log((counts[word] + self.alpha) / total) for word in self.vocabulary
            }
        return self

    def predict_proba(self, text):
        words = [word for word in tokenize(text) if word in self.vocabulary]
        logs = [
            self.priors[o] + sum(self.log_chances[o][word] for word in words) for o in OFFICES
        ]
        top = max(logs)
        chances = [math.exp(value - top) for value in logs]
        return [chance / sum(chances) for chance in chances]


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def log_loss(model, rows):
    chances = [model.predict_proba(row["text"])[OFFICES.index(row["office"])] for row in rows]
    return -sum(math.log(max(chance, 1e-6)) for chance in chances) / len(chances)


def accuracy(model, rows):
    hits = 0
    for row in rows:
        chances = model.predict_proba(row["text"])
        hits += OFFICES[chances.index(max(chances))] == row["office"]
    return hits / len(rows)


def cross_validate(rows, repeat):
    rows = rows[:]
    random.Random(f"{SEED} {repeat}").shuffle(rows)
    losses, hits = [], []
    for fold in range(FOLDS):
        held_out = rows[fold::FOLDS]
        fitted = [row for place, row in enumerate(rows) if place % FOLDS != fold]
        model = NaiveBayes().fit([r["text"] for r in fitted], [r["office"] for r in fitted])
        losses.append(log_loss(model, held_out))
        hits.append(accuracy(model, held_out))
    return sum(losses) / FOLDS, sum(hits) / FOLDS


def main():
    rows, test = read("data/train.csv"), read("data/test.csv")
    results = [cross_validate(rows, repeat) for repeat in range(REPEATS)]
    print("validation    log loss   accuracy")
    for repeat, (loss, hit) in enumerate(results, 1):
        print(f"repeat {repeat:<6} {loss:8.4f}   {hit:8.3f}")
    loss, hit = (sum(column) / REPEATS for column in zip(*results))
    print(f"mean          {loss:8.4f}   {hit:8.3f}")

    model = NaiveBayes().fit([r["text"] for r in rows], [r["office"] for r in rows])
    with open("submission.csv", "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["letter"] + [f"p_{o}" for o in OFFICES])
        for row in test:
            chances = model.predict_proba(row["text"])
            writer.writerow([row["letter"]] + [f"{chance:.6f}" for chance in chances])


if __name__ == "__main__":
    main()
