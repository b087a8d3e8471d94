"""Words of four to six letters, also with a wildcard, in a logistic regression; then trees on the matches of words
that the training data shows to matter, with their places."""

import csv
import os

import numpy as np
from scipy.sparse import hstack
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from fasta import read_fasta

SEED = int(os.environ.get("MLAB_SEED", "0"))
WIDTH = 7
CODES = {letter: k for k, letter in enumerate("ACGT")}


def wildcards(sequence):
    for i in range(len(sequence) - 5):
        word = sequence[i : i + 6]
        for hole in range(1, 5):
            yield word[:hole] + "." + word[hole + 1 :]


def one_hot(sequences):
    array = np.zeros((len(sequences), len(sequences[0]), 4))
    for n, sequence in enumerate(sequences):
        for i, letter in enumerate(sequence):
            if letter in CODES:
                array[n, i, CODES[letter]] = 1
    return array


def windows(array):
    view = np.lib.stride_tricks.sliding_window_view(array, WIDTH, axis=1)
    return view.transpose(0, 1, 3, 2).reshape(len(array), -1, WIDTH * 4)


def seeds(sequences, y, sign, count=4):
    """Words of six letters most typical of one class, none close to another."""
    counter = CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False, binary=True, min_df=6)
    X = counter.fit_transform(sequences)
    with_, without = X[y == 1].mean(0).A1, X[y == 0].mean(0).A1
    z = sign * (with_ - without) / np.sqrt((with_ + without) / len(y) + 1e-9)
    chosen = []
    words = counter.get_feature_names_out()
    for at in np.argsort(-z):
        word = words[at]
        if "N" in word:
            continue
        shifts = [sum(a == b for a, b in zip(word[s:], old)) for old in chosen for s in (0, 1, 2)]
        shifts += [sum(a == b for a, b in zip(word, old[s:])) for old in chosen for s in (1, 2)]
        if all(same < 4 for same in shifts):
            chosen.append(word)
        if len(chosen) == count:
            return chosen
    return chosen


def refine(word, spans):
    """A weight matrix around a word, from the windows that match it best, three times over."""
    matrix = np.full((WIDTH, 4), 0.0)
    for i, letter in enumerate(word):
        matrix[i, CODES[letter]] = 1
    for _ in range(3):
        scores = spans @ matrix.ravel()
        best = scores.argmax(1)
        top = scores.max(1)
        keep = top >= np.quantile(top, 0.7)
        counts = spans[np.flatnonzero(keep), best[keep]].sum(0).reshape(WIDTH, 4) + 2
        matrix = np.log(counts / counts.sum(1, keepdims=True) / 0.25)
    return matrix


def places(matrices, spans):
    """Best match of each motif, and of each ordered pair of motifs 12 to 22 letters apart."""
    tracks = [spans @ matrix.ravel() for matrix in matrices]
    columns = []
    for track in tracks:
        columns += [track.max(1), track.argmax(1)]
    for a, first in enumerate(tracks):
        for b, second in enumerate(tracks):
            if a != b:
                sums = [first[:, :-gap] + second[:, gap:] for gap in range(WIDTH + 11, WIDTH + 23)]
                columns.append(np.max([each.max(1) for each in sums], axis=0))
    return np.column_stack(columns)


def predict(sequences, y, asked):
    # seed words and composition
    counters = [
        CountVectorizer(analyzer="char", ngram_range=(1, 6), lowercase=False, min_df=4),
        CountVectorizer(analyzer=wildcards, min_df=6, binary=True),
    ]
    X = hstack([c.fit_transform(sequences) for c in counters]).tocsr()
    X_asked = hstack([c.transform(asked) for c in counters]).tocsr()
    linear = LogisticRegression(C=0.003, solver="liblinear").fit(X, y)
    spans, spans_asked = windows(one_hot(sequences)), windows(one_hot(asked))
    matrices = [refine(word, spans) for word in [*seeds(sequences, y, 1), *seeds(sequences, y, -1, 2)]]
    share = lambda texts: np.array([[t.count(c) for c in "ACGT"] for t in texts])
    inside = np.column_stack([places(matrices, spans), share(sequences)])
    outside = np.column_stack([places(matrices, spans_asked), share(asked)])
    trees = HistGradientBoostingClassifier(
        max_iter=90, learning_rate=0.06, max_leaf_nodes=6, min_samples_leaf=20, max_features=0.4, random_state=SEED
    ).fit(inside, y)
    odds = np.log(trees.predict_proba(outside)[:, 1]) - np.log(trees.predict_proba(outside)[:, 0])
    return odds + 0.5 * linear.decision_function(X_asked)


known, test = read_fasta("data/train.fa"), read_fasta("data/test.fa")
with open("data/activity.csv", newline="") as file:
    active = {row["name"]: int(row["active"]) for row in csv.DictReader(file)}
sequences = list(known.values())
y = np.array([active[name] for name in known])
fit, val = train_test_split(np.arange(len(y)), test_size=0.25, random_state=SEED, stratify=y)
found = predict([sequences[i] for i in fit], y[fit], [sequences[i] for i in val])
print(f"validation AUC: {roc_auc_score(y[val], found):.4f}")

scores = predict(sequences, y, list(test.values()))
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["name", "score"])
    writer.writerows(zip(test, scores.round(5), strict=True))
