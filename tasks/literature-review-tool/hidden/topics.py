"""Generates topics for reviews: a problem and three aspects, and which papers belong to them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from papers import Paper, capital
from vocabulary import METHODS, PROBLEMS, SETTINGS

ASPECTS = 3


@dataclass(frozen=True)
class Aspect:
    """One aspect that a review must cover: all its names, and the arXiv ids of its papers."""

    names: list[str]
    papers: list[str]


@dataclass(frozen=True)
class Topic:
    """The input of a tool, and what it must find."""

    text: str
    aspects: list[Aspect]

    @property
    def relevant(self) -> set[str]:
        """The arXiv ids of all papers of any aspect."""
        return {paper for aspect in self.aspects for paper in aspect.papers}


def make_topic(generator: random.Random, papers: Sequence[Paper], problem: str) -> Topic:
    """A topic about a problem, with one or two settings and one or two methods that have papers."""
    on_problem = [paper for paper in papers if paper.problem == problem]
    settings = sorted({paper.setting for paper in on_problem})
    methods = sorted({paper.method for paper in on_problem})
    of_settings = generator.randrange(1, ASPECTS)
    aspects = [
        Aspect(SETTINGS[key], sorted(p.arxiv for p in on_problem if p.setting == key))
        for key in generator.sample(settings, of_settings)
    ]
    aspects += [
        Aspect(METHODS[key], sorted(p.arxiv for p in on_problem if p.method == key))
        for key in generator.sample(methods, ASPECTS - of_settings)
    ]
    said = [generator.choice(aspect.names) for aspect in aspects]
    parts = [f"work {name}" for name in said[:of_settings]]
    parts += [f"the use of {name}" for name in said[of_settings:]]
    task = generator.choice(PROBLEMS[problem])
    return Topic(f"{capital(task)}: {parts[0]}; {parts[1]}; and {parts[2]}.", aspects)
