"""Prefix filter: similar sets share a word among their rarest ones."""

import json
import re
import time
from collections import Counter
from math import ceil

WORD = re.compile(r"[a-z0-9]+")


def similar_pairs(texts, threshold):
    if threshold <= 0:
        return [[i, j] for i in range(len(texts)) for j in range(i + 1, len(texts))]
    sets = [frozenset(WORD.findall(text.lower())) for text in texts]
    counts = Counter(word for words in sets for word in words)
    rank = {word: (count, word) for word, count in counts.items()}
    index = {}
    pairs = []
    for i, words in enumerate(sets):
        size = len(words)
        # overlap must be at least threshold * size; one word of slack for rounding
        prefix = sorted(words, key=rank.__getitem__)[: size - ceil(threshold * size) + 2]
        candidates = set()
        for word in prefix:
            seen = index.setdefault(word, [])
            candidates.update(seen)
            seen.append(i)
        for j in candidates:
            other = len(sets[j])
            shared = len(words & sets[j])
            if shared / (size + other - shared) >= threshold:
                pairs.append([j, i])
    pairs.sort()
    return pairs


if __name__ == "__main__":
    with open("data/tickets.json") as file:
        texts = json.load(file)
    start = time.perf_counter()
    found = similar_pairs(texts, 0.62)
    print(f"{len(found)} pairs, validation seconds: {time.perf_counter() - start:.4f}")
