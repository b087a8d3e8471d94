"""Synthetic essays in the format of Kaggle's train.csv: six skills determine text and scores."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

ESSAYS = 300
SCORES = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")
# Of a skill: its mean, the spread shared by all six of an essay, and its individual spread.
MEAN, SHARED, OWN = 3.1, 0.55, 0.35
RATERS_NOISE = 0.2

# (plain, choice): writers with a large vocabulary use the second more often.
THINGS = (
    ("school", "education"),
    ("job", "profession"),
    ("idea", "perspective"),
    ("thing", "opportunity"),
    ("problem", "difficulty"),
    ("friends", "companions"),
    ("goal", "ambition"),
    ("people", "individuals"),
)
QUALITIES = (
    ("good", "beneficial"),
    ("bad", "detrimental"),
    ("big", "considerable"),
    ("important", "indispensable"),
    ("hard", "demanding"),
    ("new", "unfamiliar"),
)
# (correct after one person, wrong there)
VERBS = (
    ("needs", "need"),
    ("wants", "want"),
    ("finds", "find"),
    ("has", "have"),
    ("changes", "change"),
    ("understands", "understand"),
)
# (idiomatic, awkward)
PHRASES = (
    ("makes a decision about", "does a decision of"),
    ("pays attention to", "puts attention in"),
    ("takes part in", "makes part of"),
    ("is interested in", "has interest for"),
    ("depends on", "depends of"),
)
PERSONS = ("a student", "my teacher", "my mother", "everybody", "the principal", "my brother")
LINKS = ("However", "Therefore", "For example", "In addition", "As a result", "In conclusion")
CLAUSES = ("because", "although", "when", "if", "while", "since")
MISSPELLED = {"because": "becuase", "teacher": "techer", "friends": "freinds", "their": "thier"}


class Writer:
    """A writer with six skills, which determine how good the sentences are."""

    def __init__(self, random: np.random.Generator, skills: dict[str, float]) -> None:
        """:param skills: by the name of their score, on its scale"""
        self._random = random
        self._skills = skills

    def masters(self, score: str) -> bool:
        """Whether it succeeds this time: rarely with a skill of 1, nearly always with 5."""
        return bool(self._random.random() < np.clip((self._skills[score] - 0.8) / 4, 0.02, 0.98))

    def choose(self, values: tuple) -> object:
        return values[self._random.integers(len(values))]

    def word(self, pairs: tuple[tuple[str, str], ...]) -> str:
        return self.choose(pairs)[int(self.masters("vocabulary"))]

    def clause(self) -> str:
        thing = f"the {self.word(QUALITIES)} {self.word(THINGS)}"
        if self._random.random() < 0.5:
            verb = self.choose(VERBS)[0 if self.masters("grammar") else 1]
        else:
            verb = self.choose(PHRASES)[0 if self.masters("phraseology") else 1]
        return f"{self.choose(PERSONS)} {verb} {thing}"

    def sentence(self) -> str:
        text = self.clause()
        if self.masters("syntax"):
            text += f" {self.choose(CLAUSES)} {self.clause()}"
        elif self._random.random() < 0.5:
            text += f" and {self.clause()}"
        if self.masters("cohesion") and self._random.random() < 0.6:
            text = f"{self.choose(LINKS)}, {text}"
        return self.write_down(text)

    def write_down(self, text: str) -> str:
        """Applies spelling, capitals and full stops as far as the writer masters them."""
        for right, wrong in MISSPELLED.items():
            if right in text and not self.masters("conventions"):
                text = text.replace(right, wrong)
        text = text[0].upper() + text[1:] if self.masters("conventions") else text.lower()
        return text + (". " if self.masters("conventions") else self.choose((" ", ", ", " .")))

    def essay(self) -> str:
        overall = float(np.mean(list(self._skills.values())))
        paragraphs = []
        for _ in range(int(np.clip(round(overall), 1, 5))):
            sentences = 3 + int(self._random.poisson(1 + overall / 2))
            paragraphs.append("".join(self.sentence() for _ in range(sentences)).strip())
        return ("\n\n" if self.masters("cohesion") else " ").join(paragraphs)


def make_row(random: np.random.Generator) -> list[object]:
    """An id, an essay and six scores from 1.0 to 5.0 in steps of 0.5."""
    own = random.normal(0, OWN, len(SCORES))
    skills = MEAN + random.normal(0, SHARED) + own
    essay = Writer(random, dict(zip(SCORES, skills.tolist(), strict=True))).essay()
    rated = skills + random.normal(0, RATERS_NOISE, len(SCORES))
    scores = np.clip(np.rint(rated * 2) / 2, 1, 5)
    return [f"{random.integers(16**12):012X}", essay, *scores.tolist()]


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    folder = sample.downloads / "feedback-prize-english-language-learning"
    folder.mkdir()
    rows = [make_row(random) for _ in range(ESSAYS)]
    write_table(folder / "train.csv", ["text_id", "full_text", *SCORES], rows)


if __name__ == "__main__":
    main()
