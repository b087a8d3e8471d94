"""Guess the stars of a guestbook entry (1-5) from its text."""

import csv
import json
import os
from collections import Counter

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

RANDOM_STATE = int(os.environ.get("MLAB_SEED", 0))


def load_jsonl(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def make_pipeline():
    return Pipeline(
        [
            ("tfidf", TfidfVectorizer(lowercase=True, min_df=2, max_features=3000)),
            ("clf", LogisticRegression(C=1.0, max_iter=500)),
        ]
    )


def evaluate(model, texts, stars):
    predicted = model.predict(texts)
    return {
        "qwk": round(cohen_kappa_score(stars, predicted, weights="quadratic"), 4),
        "accuracy": round(accuracy_score(stars, predicted), 4),
        "predicted": {str(k): v for k, v in sorted(Counter(map(int, predicted)).items())},
    }


def train_and_validate(rows):
    texts = [row["text"] for row in rows]
    stars = [row["stars"] for row in rows]
    t_train, t_val, s_train, s_val = train_test_split(
        texts, stars, test_size=0.25, random_state=RANDOM_STATE, stratify=stars
    )
    model = make_pipeline().fit(t_train, s_train)
    report = {
        "n_train": len(t_train),
        "n_val": len(t_val),
        "stars": {str(k): v for k, v in sorted(Counter(stars).items())},
        "train": evaluate(model, t_train, s_train),
        "val": evaluate(model, t_val, s_val),
    }
    return make_pipeline().fit(texts, stars), report


def write_submission(model, rows, path="stars.csv"):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=["id", "stars"])
        writer.writeheader()
        for row, stars in zip(rows, model.predict([row["text"] for row in rows])):
            writer.writerow({"id": row["id"], "stars": int(stars)})


if __name__ == "__main__":
    model, report = train_and_validate(load_jsonl("data/train.jsonl"))
    print(json.dumps(report, indent=2))
    write_submission(model, load_jsonl("data/test.jsonl"))
