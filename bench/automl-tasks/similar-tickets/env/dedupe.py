"""Finds tickets that say nearly the same.

Two tickets are similar if the Jaccard similarity of their sets of words
(lower case, letters and digits) is at least a threshold.
"""

import json
import re
import time

THRESHOLD = 0.62


def words(text):
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def jaccard(a, b):
    union = a | b
    if len(union) == 0:
        return 0.0
    return len(a & b) / len(union)


def similar_pairs(texts, threshold):
    """All [i, j] with i < j whose similarity is at least the threshold, sorted."""
    vocabulary = []
    for text in texts:
        vocabulary.append(words(text))
    pairs = []
    for i in range(len(texts)):
        for j in range(i + 1, len(texts)):
            if jaccard(vocabulary[i], vocabulary[j]) >= threshold:
                pairs.append([i, j])
    return pairs


if __name__ == "__main__":
    with open("data/tickets.json") as f:
        texts = json.load(f)
    start = time.perf_counter()
    pairs = similar_pairs(texts, THRESHOLD)
    seconds = time.perf_counter() - start
    print(f"{len(texts)} tickets, {len(pairs)} similar pairs")
    print(f"took {seconds:.3f} s")
