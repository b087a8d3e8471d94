"""Makes up subjects of help-desk tickets, some of which are edited copies of others.

They are short, since at most 60,000 bytes go into one call of submitted code.
"""

import random

START = ["Re:", "URGENT", "Fwd:", "", ""]
SYLLABLES = ["ba", "cor", "del", "fi", "gra", "hol", "in", "ka", "lum", "mo", "net", "or", "pri", "que", "ras", "ser", "tor", "ul"]


def tickets(rng: random.Random, count: int) -> list[str]:
    words = sorted({"".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(1500)})
    rng.shuffle(words)
    weights = [1 / (rank + 8) for rank in range(len(words))]
    texts: list[list[str]] = []
    while len(texts) < count:
        text = rng.choices(words, weights, k=rng.randint(4, 9))
        texts.append(text)
        if rng.random() < 0.25:
            for _ in range(rng.randint(1, 4)):
                copy = [w if rng.random() > 0.12 else rng.choice(words) for w in text]
                texts.append(copy[: rng.randint(len(copy) - 1, len(copy))])
    texts = texts[:count]
    rng.shuffle(texts)
    return [written(rng, text) for text in texts]


def written(rng: random.Random, words: list[str]) -> str:
    out = [rng.choice(START)]
    for word in words:
        word = word.capitalize() if rng.random() < 0.1 else word
        out.append(word + rng.choice(["", "", "", "", "", "", ",", ".", "!", f" {rng.randint(1, 40)}"]))
    return " ".join(out).strip()
