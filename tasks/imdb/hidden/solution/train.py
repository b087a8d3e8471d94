"""Classifies film reviews by unigrams and bigrams, and writes submission.csv."""

import os

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

SEED = int(os.environ.get("MLAB_SEED", "0"))

VALIDATION_SHARE = 0.2
LONGEST_PHRASE = 2
FEWEST_REVIEWS = 2
INVERSE_PENALTY = 30.0
MOST_ITERATIONS = 200


def make_model() -> Pipeline:
    """Logistic regression on weighted counts of unigrams and bigrams."""
    counts = TfidfVectorizer(
        ngram_range=(1, LONGEST_PHRASE),
        min_df=FEWEST_REVIEWS,
        sublinear_tf=True,
        token_pattern=r"[a-z']+|[!?]",
    )
    return make_pipeline(counts, LogisticRegression(C=INVERSE_PENALTY, max_iter=MOST_ITERATIONS))


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    train_part, validation_part = train_test_split(
        train, test_size=VALIDATION_SHARE, random_state=SEED, stratify=train["label"]
    )
    model = make_model().fit(train_part["text"], train_part["label"])
    accuracy = model.score(validation_part["text"], validation_part["label"])
    print(f"validation accuracy: {accuracy:.4f}")

    # Validation is done: train on all labelled reviews.
    model = make_model().fit(train["text"], train["label"])
    probabilities = model.predict_proba(test["text"])
    submission = pd.DataFrame(
        {"idx": test["idx"], "0": probabilities[:, 0], "1": probabilities[:, 1]}
    )
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
