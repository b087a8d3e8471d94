"""Ranks texts against a query by BM25: for the local search services of tasks."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

# Usual values; S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework (2009), 3.2.
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
WORD = re.compile(r"[a-z0-9]+")


def words_of(text: str) -> list[str]:
    """Words in lower case, without accents, a plural's `s` cut off: `Graphs` is `graph`."""
    plain = unicodedata.normalize("NFKD", text.lower())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return [_singular(word) for word in WORD.findall(letters)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "su" else word


class Index:
    """Texts, numbered from 0, that can be searched by words."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words_of(text)) for text in texts]
        self._lengths = [sum(count.values()) for count in counts]
        self._mean_length = sum(self._lengths) / max(1, len(texts))
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((number, times))

    def search(self, query: str) -> list[tuple[int, float]]:
        """Numbers and scores of all texts with a word of the query, the best first.

        Equal ones keep their order.

        A text's score is the sum over the query's distinct words of
        idf * times * (k + 1) / (times + k * (1 - b + b * length / mean length)),
        with idf = ln(1 + (texts - found + 0.5) / (found + 0.5)), always positive.
        """
        scores: dict[int, float] = {}
        for word in sorted(set(words_of(query))):
            found = self._postings.get(word, [])
            rarity = math.log1p((len(self._lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                length = self._lengths[number] / self._mean_length
                norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
                gain = rarity * times * (SATURATION + 1) / (times + norm)
                scores[number] = scores.get(number, 0.0) + gain
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
