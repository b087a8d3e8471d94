"""Synthetic film reviews in the layout of aclImdb: sentences from a small grammar.

A review has a stance. Most of its sentences agree with it; some concede the opposite, some praise
by denying a fault ("never dull"), some are neutral. The last sentence has no special weight, so
that counting words works well but not perfectly.
"""

import os
import random
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

REVIEWS = {"train": 450, "test": 300}  # per class
AGREEING_SHARE = 0.78
NEUTRAL_SHARE = 0.3
SENTENCES = (4, 12)
RATINGS = {"pos": (7, 10), "neg": (1, 4)}

PRAISE = (
    "superb moving clever gripping charming funny brilliant honest tense lovely subtle bold fresh "
    "witty thrilling graceful sincere memorable rich delightful"
).split()
BLAME = (
    "dull tedious clumsy silly boring weak wooden shallow awful noisy stale flat lazy muddled "
    "pointless bland forced tiresome lifeless cheap"
).split()
ASPECTS = (
    "acting plot script camera music ending dialogue cast pacing editing humour story scenery "
    "opening romance villain hero chase soundtrack costume"
).split()
NEUTRAL = (
    "It was made in the {year}s and runs for {minutes} minutes.",
    "I saw it with my {person} on a {day}.",
    "The {aspect} is by people I had never heard of.",
    "It is about a {person} who comes home on a {day} and finds a letter.",
    "There is a scene with a {person} and a {thing} near the middle.",
    "My {person} asked me about the {aspect} afterwards.",
)
PERSONS = "sister brother neighbour teacher doctor sailor waiter singer soldier clerk".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
THINGS = "piano lamp boat ladder violin suitcase clock mirror bicycle kettle".split()
PLAIN = (
    "The {aspect} is {word}.",
    "I found the {aspect} {word} and the {other} {word2}.",
    "What a {word} {aspect}!",
    "A {word} {aspect}, I must say.",
    "Its {aspect} seemed {word} to me from the first minute.",
)
DENYING = (
    "The {aspect} is never {opposite}.",
    "Nobody could call the {aspect} {opposite}.",
    "I was told of a {opposite} {aspect}, but it is not {opposite} at all.",
    "The {aspect} isn't {opposite} in the least.",
)
GRANTING = (
    "Although the {aspect} is {opposite}, the {other} is {word}.",
    "The {aspect} may be {opposite}; the {other} is what counts and it is {word}.",
    "Yes, the {aspect} is {opposite}, yet the {other} is {word}.",
)


def make_sentence(draw: random.Random, positive: bool) -> str:
    """A sentence that ultimately praises or criticises."""
    agreeing, opposing = (PRAISE, BLAME) if positive else (BLAME, PRAISE)
    form = draw.choice(draw.choices((PLAIN, DENYING, GRANTING), weights=(6, 1, 2))[0])
    aspect, other = draw.sample(ASPECTS, 2)
    word, word2 = draw.sample(agreeing, 2)
    return form.format(
        aspect=aspect, other=other, word=word, word2=word2, opposite=draw.choice(opposing)
    )


def make_neutral_sentence(draw: random.Random) -> str:
    """A sentence without praise or criticism."""
    return draw.choice(NEUTRAL).format(
        aspect=draw.choice(ASPECTS),
        person=draw.choice(PERSONS),
        day=draw.choice(DAYS),
        thing=draw.choice(THINGS),
        year=draw.randrange(1930, 2010, 10),
        minutes=draw.randint(70, 180),
    )


def make_review(draw: random.Random, positive: bool) -> str:
    """Some sentences in one or two paragraphs, separated by `<br /><br />` as in the original."""
    sentences = []
    for _ in range(draw.randint(*SENTENCES)):
        if draw.random() < NEUTRAL_SHARE:
            sentences.append(make_neutral_sentence(draw))
        else:
            agrees = draw.random() < AGREEING_SHARE
            sentences.append(make_sentence(draw, positive == agrees))
    middle = draw.randint(0, len(sentences) - 1)
    parts = (" ".join(sentences[:middle]), " ".join(sentences[middle:]))
    return "<br /><br />".join(part for part in parts if part)


def write_reviews(folder: Path, draw: random.Random, count: int, label: str) -> None:
    """Writes `<number>_<rating>.txt` for each review, named as in the original."""
    folder.mkdir(parents=True)
    for number in range(count):
        file = folder / f"{number}_{draw.randint(*RATINGS[label])}.txt"
        file.write_text(make_review(draw, label == "pos"), encoding="utf-8")


def main() -> None:
    sample = read_sample()
    draw = random.Random(sample.seed)
    for part, count in REVIEWS.items():
        for label in RATINGS:
            folder = sample.downloads / "aclImdb_v1" / "aclImdb" / part / label
            write_reviews(folder, draw, count, label)


if __name__ == "__main__":
    main()
