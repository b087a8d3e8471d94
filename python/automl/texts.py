"""Columns of sentences."""

import re

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from automl.data import Data
from automl.settings import MEMBERS, SECONDS, SEED

FEWEST = 60
"""Different sentences; fewer are names. Those of joined tables may occur in many rows."""
MOST_LETTERS = min(12_000_000, 100_000 * SECONDS)
"""Above this, pieces of words take too long."""


def add_texts(name: str, cells: list[str], data: Data) -> bool:
    """Words, pairs of words and pieces of words, and how the text is written."""
    known = [cell for cell in cells if cell != ""]
    lengths = [len(cell.split()) for cell in known]
    # Short ones must use words again and again, else they are names.
    words = {word for cell in known for word in cell.split()}
    is_short = np.mean(lengths) < 8
    varied = 0.5 * len(known) if is_short else FEWEST
    if len(set(known)) < varied or np.mean(lengths) < 2.5:
        return False
    if is_short and len(words) > 0.5 * sum(lengths):
        return False
    add_counts(name, cells, data)
    many = len(cells) > 5_000
    kinds = [{"ngram_range": (1, 2), "min_df": 3 if many else 2, "max_features": 200_000}]
    if sum(map(len, cells)) <= MOST_LETTERS:
        pieces = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 5 if many else 3}
        kinds.append({**pieces, "max_features": 150_000})
    wide = [TfidfVectorizer(sublinear_tf=True, **kind).fit_transform(cells) for kind in kinds]
    data.words += wide
    # Trees split by one column at a time: the main directions of all words suit them.
    size = min(60, wide[0].shape[1] - 1) if set(MEMBERS) - {"linear", "ratios", "pieces"} else 0
    if size > 0:
        topics = TruncatedSVD(size, random_state=SEED).fit_transform(wide[0])
        for place, column in enumerate(topics.T):
            data.numbers[f"{name} topic {place}"] = column
    return True


def add_counts(name: str, cells: list[str], data: Data) -> None:
    def count(label: str, values: list[float]) -> None:
        data.numbers[f"{name} {label}"] = np.array(values, float)

    split = [cell.split() for cell in cells]
    sentences = [max(len(re.findall(r"[.!?]+", cell)), 1) for cell in cells]
    count("characters", [len(cell) for cell in cells])
    count("words", [len(words) for words in split])
    count("share of different words", [len(set(words)) / max(len(words), 1) for words in split])
    count("length of words", [sum(map(len, words)) / max(len(words), 1) for words in split])
    count("long words", [np.mean([len(w) > 6 for w in words] or [0]) for words in split])
    count("words a sentence", [len(words) / n for words, n in zip(split, sentences, strict=True)])
    count("lines", [cell.count("\n") for cell in cells])
    for mark in ",.!?'\"":
        count(f"share of {mark}", [cell.count(mark) / max(len(cell), 1) for cell in cells])
    count("capitals", [sum(map(str.isupper, cell)) / max(len(cell), 1) for cell in cells])
    count("digits", [sum(map(str.isdigit, cell)) / max(len(cell), 1) for cell in cells])
