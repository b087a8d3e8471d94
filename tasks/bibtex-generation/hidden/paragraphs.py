"""Generates paragraphs that report findings of papers, with the citations of each sentence."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from papers import Paper, capital
from vocabulary import FINDINGS, METHODS, PROBLEMS, SETTINGS

NUMBERS_SHOWN = 0.35
# Findings without their number.
VAGUE = {
    "error": ["made errors rarer", "left fewer mistakes"],
    "labels": ["got by on far fewer annotations", "needed little annotation"],
    "training": ["shortened training", "trained much faster"],
    "nothing": ["brought nothing beyond simple baselines", "did no better than simple baselines"],
    "accuracy": ["improved accuracy", "were more accurate"],
    "energy": ["saved energy", "used less energy"],
    "experts": ["were compared with experts", "were held against the judgement of experts"],
    "sites": ["held up in trials elsewhere", "were confirmed at other sites"],
}


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the papers that it must cite, by their identity."""

    text: str
    papers: list[str]


class Writer:
    """Paraphrases papers, so that it is still clear which one is meant."""

    def __init__(self, generator: random.Random, papers: Sequence[Paper]) -> None:
        self._generator = generator
        self._by_problem: dict[str, list[Paper]] = defaultdict(list)
        for paper in papers:
            self._by_problem[paper.problem].append(paper)

    def paragraph(self, problem: str) -> list[Sentence]:
        """Five to nine sentences on a problem, three to five of which need citations."""
        cited: list[Sentence] = []
        used: set[str] = set()
        wanted = self._generator.randrange(3, 6)
        while len(cited) < wanted:
            sentence = self._citing(problem)
            if sentence is None or used & set(sentence.papers):
                continue
            used.update(sentence.papers)
            cited.append(sentence)
        task = self._generator.choice(PROBLEMS[problem])
        opening = self._generator.choice(
            [
                f"Much has been written about {task}.",
                f"This section is about {task}.",
                f"{capital(task)} has been approached in many ways.",
            ]
        )
        plain = [Sentence(text, []) for text in self._plain(problem)]
        rest = [*cited, *plain]
        self._generator.shuffle(rest)
        return [Sentence(opening, []), *rest]

    def _citing(self, problem: str) -> Sentence | None:
        """One sentence; None if it would not be clear which papers it refers to."""
        kind = self._generator.random()
        if kind < 0.15:
            return self._about_two(problem)
        if kind < 0.3:
            others = [other for other in PROBLEMS if other != problem]
            return self._about_one(self._generator.choice(others), names_problem=True)
        return self._about_one(problem, names_problem=kind < 0.5)

    def _about_one(self, problem: str, names_problem: bool) -> Sentence | None:
        choose = self._generator.choice
        paper = choose(self._by_problem[problem])
        says_setting, says_finding = choose([(True, True), (False, True), (True, False)])
        says_number = says_finding and self._generator.random() < NUMBERS_SHOWN
        meant = [
            other
            for other in self._by_problem[problem]
            if other.method == paper.method
            and (not says_setting or other.setting == paper.setting)
            and (not says_finding or other.finding == paper.finding)
            and (not says_number or other.number == paper.number)
        ]
        if len(meant) > 1:
            return None
        place = f"for {choose(PROBLEMS[problem])}" if names_problem else ""
        where = choose(SETTINGS[paper.setting]) if says_setting else ""
        middle = " ".join(part for part in (choose(METHODS[paper.method]), place, where) if part)
        if not says_finding:
            text = choose([f"Others turned to {middle}", f"There is a study of {middle}"])
        elif says_number:
            text = f"{capital(middle)} {choose(FINDINGS[paper.finding][1]).format(n=paper.number)}"
        else:
            text = f"{capital(middle)} {choose(VAGUE[paper.finding])}"
        return Sentence(f"{text}.", [paper.identity])

    def _about_two(self, problem: str) -> Sentence | None:
        """Two methods in one setting."""
        first = self._generator.choice(self._by_problem[problem])
        alike = [
            paper
            for paper in self._by_problem[problem]
            if paper.setting == first.setting and paper.method != first.method
        ]
        if not alike:
            return None
        second = self._generator.choice(alike)
        tools = [self._generator.choice(METHODS[paper.method]) for paper in (first, second)]
        where = self._generator.choice(SETTINGS[first.setting])
        text = f"Both {tools[0]} and {tools[1]} have been tried {where}."
        return Sentence(text, [first.identity, second.identity])

    def _plain(self, problem: str) -> list[str]:
        """Sentences that need no citation: common knowledge, own work, what nobody did."""
        tried = {paper.method for paper in self._by_problem[problem]}
        untried = self._generator.choice([key for key in METHODS if key not in tried])
        own, where = self._generator.choice(list(METHODS)), self._generator.choice(list(SETTINGS))
        untried_tool = self._generator.choice(METHODS[untried])
        own_tool = self._generator.choice(METHODS[own])
        place = self._generator.choice(SETTINGS[where])
        candidates = [
            f"To our knowledge nobody has tried {untried_tool} here.",
            f"In this work we use {own_tool} {place}.",
            f"Our own experiments with {own_tool} are described below.",
            f"It is easy to see why one would want this {place}.",
            "Good data are costly to collect.",
            "These results are hard to compare with each other.",
            "We come back to this question in the next section.",
        ]
        return self._generator.sample(candidates, self._generator.randrange(1, 4))


def text_of(sentences: Sequence[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)
