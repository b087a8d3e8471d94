"""Synthetic articles in the format of WikiText: words of random syllables, by Zipf's law."""

import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

ARTICLES = 30
PARAGRAPHS = (4, 9)
SENTENCES = (6, 14)
WORDS = (8, 24)
VOCABULARY = 4000
CONSONANTS = ("b", "br", "c", "d", "f", "g", "gr", "l", "m", "n", "p", "r", "s", "st", "t", "v")
VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")


def make_word(generator: random.Random) -> str:
    return "".join(
        generator.choice(CONSONANTS) + generator.choice(VOWELS)
        for _ in range(generator.randint(1, 4))
    )


def make_text(generator: random.Random) -> str:
    """Headings and paragraphs, one line each, with spaces around punctuation as in the original."""
    words = [make_word(generator) for _ in range(VOCABULARY)]
    # Zipf's law: the n-th word is n times rarer than the first.
    weights = [1 / (1 + place) for place in range(VOCABULARY)]

    def sentence() -> str:
        first, *others = generator.choices(words, weights, k=generator.randint(*WORDS))
        return " ".join([first.capitalize(), *others, "."])

    lines = [" "]
    for _ in range(ARTICLES):
        title = " ".join(generator.choices(words, k=2)).title()
        lines += [f" = {title} = ", " "]
        for _ in range(generator.randint(*PARAGRAPHS)):
            sentences = [sentence() for _ in range(generator.randint(*SENTENCES))]
            lines += [f" {' '.join(sentences)} ", " "]
    return "\n".join(lines) + "\n"


def main() -> None:
    sample = read_sample()
    folder = sample.downloads / "wikitext-2-raw-v1" / "wikitext-2-raw"
    folder.mkdir(parents=True)
    text = make_text(random.Random(sample.seed))
    (folder / "wiki.test.raw").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
