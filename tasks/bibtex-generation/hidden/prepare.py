"""Generates a literature and paragraphs about it: some public with citations, most hidden."""

import os
import random
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from papers import Paper, make_papers, write_json, write_papers
from paragraphs import Sentence, Writer
from vocabulary import PROBLEMS

from mlab_task.preparing import read_folders

SEED = 20_260_310
PAPERS = 480
SHOWN, HELD_BACK = 20, 60


def entry_of(paper: Paper) -> dict[str, Any]:
    """How the solution identifies a paper for the grader."""
    return {
        "identity": paper.identity,
        "title": paper.title,
        "doi": paper.doi,
        "arxiv": paper.arxiv,
    }


def main() -> None:
    folders = read_folders()
    generator = random.Random(SEED)
    papers = make_papers(generator, PAPERS)
    writer = Writer(generator, papers)
    problems = list(PROBLEMS)
    paragraphs: list[list[Sentence]] = [
        writer.paragraph(problems[number % len(problems)]) for number in range(SHOWN + HELD_BACK)
    ]
    generator.shuffle(paragraphs)
    by_identity = {paper.identity: paper for paper in papers}
    shown = [
        [
            {
                "text": sentence.text,
                "papers": [entry_of(by_identity[identity]) for identity in sentence.papers],
            }
            for sentence in paragraph
        ]
        for paragraph in paragraphs[:SHOWN]
    ]
    write_json(folders.public / "paragraphs.json", shown)
    held_back = [[asdict(sentence) for sentence in each] for each in paragraphs[SHOWN:]]
    write_json(folders.private / "paragraphs.json", held_back)
    write_papers(folders.private / "papers.json", papers)


if __name__ == "__main__":
    main()
