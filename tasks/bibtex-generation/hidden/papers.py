"""Generates a literature: papers with titles, authors, years, abstracts and ids, from a seed.

bibtex-generation and literature-review-tool have the same file; a test keeps them identical.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vocabulary import (
    FINDINGS,
    GIVEN_NAMES,
    METHODS,
    PROBLEMS,
    SETTINGS,
    SURNAMES,
    VENUES,
)


@dataclass(frozen=True)
class Paper:
    """A paper and its facts: keys of the vocabulary, and the number that it reports."""

    identity: str
    title: str
    authors: list[str]
    year: int
    month: int
    venue: str
    abstract: str
    doi: str
    arxiv: str
    problem: str
    method: str
    setting: str
    finding: str
    number: int


def make_papers(generator: random.Random, count: int) -> list[Paper]:
    """Papers with unique triples of problem, method and setting; equally many per problem."""
    problems = list(PROBLEMS)
    seen: set[tuple[str, str, str]] = set()
    titles: set[str] = set()
    papers: list[Paper] = []
    # Shuffled: a serial number must not reveal the problem.
    serials = generator.sample(range(1000, 10_000), count)
    while len(papers) < count:
        problem = problems[len(papers) % len(problems)]
        facts = (problem, generator.choice(list(METHODS)), generator.choice(list(SETTINGS)))
        if facts in seen:
            continue
        paper = make_paper(generator, serials[len(papers)], *facts)
        if paper.title.lower() in titles:
            continue
        seen.add(facts)
        titles.add(paper.title.lower())
        papers.append(paper)
    # Their order does not reveal the problem.
    generator.shuffle(papers)
    return papers


def make_paper(
    generator: random.Random, serial: int, problem: str, method: str, setting: str
) -> Paper:
    """A paper whose title and abstract are worded at random among synonyms."""
    finding = generator.choice(list(FINDINGS))
    number = generator.randrange(3, 90)
    year, month = generator.randrange(2008, 2024), generator.randrange(1, 13)
    authors = [
        f"{generator.choice(GIVEN_NAMES)} {surname}"
        for surname in generator.sample(SURNAMES, generator.randrange(1, 5))
    ]
    # Months above 12 do not exist: no real paper has these identifiers.
    arxiv = f"{year % 100:02d}{month + 20}.{serial:05d}"
    return Paper(
        identity=f"{generator.getrandbits(160):040x}",
        title=make_title(generator, problem, method, setting),
        authors=authors,
        year=year,
        month=month,
        venue=generator.choice(VENUES),
        abstract=make_abstract(generator, problem, method, setting, finding, number),
        doi=f"10.5555/made.{year}.{serial}",
        arxiv=arxiv,
        problem=problem,
        method=method,
        setting=setting,
        finding=finding,
        number=number,
    )


def make_title(generator: random.Random, problem: str, method: str, setting: str) -> str:
    task = generator.choice(PROBLEMS[problem])
    tool = generator.choice(METHODS[method])
    where = generator.choice(SETTINGS[setting])
    pattern = generator.choice(
        [
            f"{tool} for {task} {where}",
            f"{task} {where}: the case for {tool}",
            f"On {tool} and {task} {where}",
            f"{task} by {tool} {where}",
        ]
    )
    return capital(pattern)


def make_abstract(
    generator: random.Random, problem: str, method: str, setting: str, finding: str, number: int
) -> str:
    """Five sentences with two numbers: the finding, and a larger irrelevant one."""
    tasks = generator.sample(PROBLEMS[problem], 2)
    tools = generator.sample(METHODS[method], 2)
    where = generator.choice(SETTINGS[setting])
    records = generator.randrange(200, 9000)
    opening = generator.choice(
        [
            f"{tasks[0]} matters to many and is still done badly",
            f"Progress in {tasks[0]} has been slow",
            f"There is much interest in {tasks[0]}",
        ]
    )
    idea = generator.choice(
        [
            f"We ask what {tools[0]} can do for it {where}",
            f"This paper brings {tools[0]} to bear on it {where}",
            f"We study it {where}, by means of {tools[0]}",
        ]
    )
    detail = generator.choice(
        [
            f"The approach rests on {tools[1]} and is tried on {records} records",
            f"We test {tools[1]} on {records} cases of {tasks[1]}",
            f"A study with {records} cases compares {tools[1]} with common practice in {tasks[1]}",
        ]
    )
    result = generator.choice(FINDINGS[finding][0]).format(n=number)
    end = generator.choice(
        [
            "We discuss what this means for practice",
            "Limits of the approach are shown on examples",
            "All material is available",
        ]
    )
    return " ".join(f"{capital(sentence)}." for sentence in (opening, idea, detail, result, end))


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def write_json(file: Path, value: object) -> None:
    """A readable, deterministic JSON file."""
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_papers(file: Path, papers: Sequence[Paper]) -> None:
    write_json(file, [asdict(paper) for paper in papers])


def read_papers(file: Path) -> list[Paper]:
    return [Paper(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
