"""Synthetic text in the layout of babylm_data: a small grammar over invented words.

A paragraph is about one topic, which determines its nouns and verbs, and one or two people, who
are named repeatedly. Verbs agree with their subject in number. So there is something to learn
from the last word, from the last sentence and from the whole paragraph. Each source mixes plain
sentences, direct speech and questions in its own way, or has a turn of a dialogue on each line.
"""

import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

BYTES = {"10M": ("train", 70_000), "dev": ("dev", 15_000), "test": ("test", 15_000)}
TOPICS = 12
NOUNS, VERBS, PROPERTIES, NAMES = 240, 120, 80, 40
TOPIC_NOUNS, TOPIC_VERBS = 30, 15
SYLLABLES = (
    "ba be bi bo da de do fa fi ga go ka ke ki la le li lo ma me mi mo na ne no pa pe pi po ra re"
    " ri ro sa se si ta te ti to va ve vi wo za ze"
).split()
ENDINGS = ["", "", "n", "r", "l", "m", "t", "sk", "nd"]
PLACES = "in on under near behind above beside".split()
JOINTS = "and but so because while until".split()


@dataclass(frozen=True)
class Style:
    """Style of a source: the share of questions and of speech, and whether lines are turns."""

    questions: float
    speech: float
    turns: bool = False


SOURCES = {
    "aochildes": Style(0.4, 0.0, turns=True),
    "bnc_spoken": Style(0.2, 0.0, turns=True),
    "cbt": Style(0.05, 0.3),
    "children_stories": Style(0.05, 0.4),
    "gutenberg": Style(0.02, 0.2),
    "open_subtitles": Style(0.3, 0.0, turns=True),
    "qed": Style(0.1, 0.05),
    "simple_wikipedia": Style(0.0, 0.0),
    "switchboard": Style(0.2, 0.0, turns=True),
    "wikipedia": Style(0.0, 0.02),
}


class Language:
    """Invented words, the frequent ones first, and which of them belong to which topic."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        words: set[str] = set()
        while len(words) < NOUNS + VERBS + PROPERTIES + NAMES:
            syllables = draw.choices(SYLLABLES, k=draw.randint(2, 3))
            words.add("".join(syllables) + draw.choice(ENDINGS))
        shuffled = draw.sample(sorted(words), len(words))
        self.nouns = shuffled[:NOUNS]
        self.verbs = shuffled[NOUNS : NOUNS + VERBS]
        self.properties = shuffled[NOUNS + VERBS : -NAMES]
        self.names = [word.capitalize() for word in shuffled[-NAMES:]]
        self.topics = [
            (draw.sample(self.nouns, TOPIC_NOUNS), draw.sample(self.verbs, TOPIC_VERBS))
            for _ in range(TOPICS)
        ]

    def pick(self, words: list[str]) -> str:
        """A word, by Zipf's law: the nth is sampled 1/n times as often as the first."""
        return self.draw.choices(words, weights=[1 / (n + 1) for n in range(len(words))])[0]

    def paragraph(self, style: Style) -> str:
        """Some sentences on one topic; one per line if the source is a dialogue."""
        nouns, verbs = self.draw.choice(self.topics)
        names = self.draw.sample(self.names, self.draw.randint(1, 2))
        sentences = [
            self.sentence(style, nouns, verbs, names) for _ in range(self.draw.randint(3, 9))
        ]
        if not style.turns:
            return " ".join(sentences) + "\n"
        return "".join(f"{self.draw.choice(names)}: {sentence}\n" for sentence in sentences)

    def sentence(self, style: Style, nouns: list[str], verbs: list[str], names: list[str]) -> str:
        clause = self.clause(nouns, verbs, names)
        kind = self.draw.random()
        if kind < style.questions:
            return f"Did you know that {clause}?"
        if kind < style.questions + style.speech:
            return f'"{clause[0].upper()}{clause[1:]}," said {self.draw.choice(names)}.'
        if self.draw.random() < 0.3:
            joint = self.draw.choice(JOINTS)
            clause = f"{clause} {joint} {self.clause(nouns, verbs, names)}"
        return f"{clause[0].upper()}{clause[1:]}."

    def clause(self, nouns: list[str], verbs: list[str], names: list[str]) -> str:
        """Subject, verb and either an object or a place."""
        subject, many = self.thing(nouns)
        if self.draw.random() < 0.4:
            subject, many = self.draw.choice(names), False
        verb = self.pick(verbs) + ("" if many else "s")
        if self.draw.random() < 0.3:
            return f"{subject} {verb} {self.draw.choice(PLACES)} {self.thing(nouns)[0]}"
        return f"{subject} {verb} {self.thing(nouns)[0]}"

    def thing(self, nouns: list[str]) -> tuple[str, bool]:
        """A noun with its article, and whether it is plural."""
        noun, many = self.pick(nouns), self.draw.random() < 0.35
        words = [self.draw.choice(("many", "all", "some") if many else ("the", "a", "this"))]
        if self.draw.random() < 0.25:
            words.append(self.pick(self.properties))
        return " ".join([*words, noun + ("s" if many else "")]), many


def write_source(file: Path, language: Language, style: Style, most_bytes: int) -> None:
    paragraphs, total = [], 0
    while total < most_bytes:
        paragraphs.append(language.paragraph(style))
        total += len(paragraphs[-1])
    file.write_text("".join(paragraphs), encoding="utf-8")


def main() -> None:
    sample = read_sample()
    language = Language(random.Random(sample.seed))
    for part, (suffix, most_bytes) in BYTES.items():
        folder = sample.downloads / "babylm_data" / "babylm_data" / f"babylm_{part}"
        folder.mkdir(parents=True)
        for source, style in SOURCES.items():
            write_source(folder / f"{source}.{suffix}", language, style, most_bytes)


if __name__ == "__main__":
    main()
