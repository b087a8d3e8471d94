"""Counts of character n-grams in SMILES."""
from collections import Counter

import numpy as np


def ngrams(text, longest):
    for n in range(1, longest + 1):
        for i in range(len(text) - n + 1):
            yield text[i : i + n]


class SmilesVectorizer:
    def __init__(self, longest=1, size=40):
        self.longest = longest
        self.size = size

    def fit(self, smiles):
        seen = Counter()
        for s in smiles:
            seen.update(set(ngrams(s, self.longest)))
        self.vocabulary = [g for g, _ in sorted(seen.items(), key=lambda kv: (-kv[1], kv[0]))[: self.size]]
        return self

    def transform(self, smiles):
        place = {g: i for i, g in enumerate(self.vocabulary)}
        X = np.zeros((len(smiles), len(place)))
        for row, s in enumerate(smiles):
            for g in ngrams(s, self.longest):
                if g in place:
                    X[row, place[g]] += 1
        return X
