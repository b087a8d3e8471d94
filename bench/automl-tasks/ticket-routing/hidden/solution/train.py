"""Routes tickets with a linear model on words, pairs of words and parts of words, with balanced classes."""

import json
import os

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline, make_union

SEED = int(os.environ.get("MLAB_SEED", "0"))


def make():
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    parts = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True)
    return make_pipeline(
        make_union(words, parts),
        LogisticRegression(C=8, class_weight="balanced", max_iter=60),
    )


with open("data/tickets.jsonl", encoding="utf-8") as file:
    tickets = pd.DataFrame([json.loads(line) for line in file])
train, val = train_test_split(tickets, test_size=0.2, random_state=SEED, stratify=tickets["department"])
found = make().fit(train["text"], train["department"]).predict(val["text"])
print(f"validation macro F1: {f1_score(val['department'], found, average='macro'):.4f}")

test = pd.read_csv("data/new_tickets.csv")
test["route_to"] = make().fit(tickets["text"], tickets["department"]).predict(test["text"])
test[["id", "route_to"]].to_csv("routes.csv", index=False)
