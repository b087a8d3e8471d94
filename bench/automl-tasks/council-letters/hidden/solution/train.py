"""Words, pairs of words and pieces of words; logistic regression."""

import csv

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union

OFFICES = ["streets", "parks", "waste"]


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


train, test = read("data/train.csv"), read("data/test.csv")
model = make_pipeline(
    make_union(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=3, sublinear_tf=True),
    ),
    LogisticRegression(C=3, max_iter=300),
)
model.fit([r["text"] for r in train], [r["office"] for r in train])
order = [list(model.classes_).index(office) for office in OFFICES]
chances = model.predict_proba([r["text"] for r in test])[:, order]
with open("submission.csv", "w", newline="") as f:
    csv.writer(f).writerows(
        [["letter", *(f"p_{o}" for o in OFFICES)], *([r["letter"], *p] for r, p in zip(test, chances.tolist()))]
    )
