"""Scores essays by counts that indicate good writing and by words, and writes submission.csv."""

import re

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler

SCORES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
FOLDS = 5
PENALTIES = np.logspace(-1, 3, 13)

LINKING = {"because", "however", "although", "therefore", "while", "which", "since", "when", "if"}
CHAINING = {"and", "so", "but", "then", "also"}


def mcrmse(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Mean over the columns of the root mean squared error; inputs of shape (essays, 6)."""
    return float(np.sqrt(((labels - predictions) ** 2).mean(axis=0)).mean())


def count(text: str) -> list[float]:
    """Length, vocabulary richness, structure and errors, mostly as shares."""
    words = re.findall(r"[A-Za-z']+", text) or [""]
    lower = [word.lower() for word in words]
    sentences = [part for part in re.split(r"[.!?]+", text) if part.strip()] or [""]
    lengths = np.array([len(word) for word in words])

    def share(pattern: str, of: list[str]) -> float:
        return len(re.findall(pattern, text)) / len(of)

    return [
        np.log(len(words)),
        np.log(len(words) / len(sentences)),
        np.log(len(set(lower))),
        len(set(lower)) / np.sqrt(len(words)),
        lengths.mean(),
        (lengths > 6).mean(),
        (lengths > 9).mean(),
        sum(word in LINKING for word in lower) / len(words),
        sum(word in CHAINING for word in lower) / len(words),
        share(",", words),
        share("'", words),
        share(r"\n\n", sentences),
        share(r"\bi\b", words),
        share(r"[.!?]\s+[a-z]", sentences),
        share(r"[,.!?;][A-Za-z]", words),
        share(r"\s[,.!?;]", words),
    ]


def count_all(texts: pd.Series) -> np.ndarray:
    """Counts of shape (essays, 16)."""
    return np.array([count(text) for text in texts])


def shrink(counts: np.ndarray) -> np.ndarray:
    """Standardised counts with a mean square of 1 per essay: the same weight as its TF-IDF."""
    return counts / np.sqrt(counts.shape[1])


def make_model() -> Pipeline:
    """A ridge regression of all six scores on counts, words and character n-grams.

    It is deterministic. Its penalty is chosen by leave-one-out cross-validation.
    """
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    letters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), min_df=2, sublinear_tf=True, lowercase=False
    )
    counts = make_pipeline(
        FunctionTransformer(count_all), StandardScaler(), FunctionTransformer(shrink)
    )
    return make_pipeline(make_union(counts, words, letters), RidgeCV(PENALTIES))


def main() -> None:
    essays = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    texts, scores = essays["full_text"], essays[SCORES].to_numpy()

    held_out = cross_val_predict(make_model(), texts, scores, cv=FOLDS)
    print(f"validation MCRMSE: {mcrmse(scores, held_out):.4f}")

    predictions = make_model().fit(texts, scores).predict(test["full_text"])
    submission = pd.DataFrame(predictions, columns=SCORES)
    submission.insert(0, "text_id", test["text_id"])
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
