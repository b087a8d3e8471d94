"""Generates a literature and topics of reviews: some public with their papers, most hidden."""

import os
import random
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from papers import make_papers, write_json, write_papers
from topics import make_topic
from vocabulary import PROBLEMS

from mlab_task.preparing import read_folders

SEED = 20_260_311
PAPERS = 720
SHOWN, HELD_BACK = 10, 40


def main() -> None:
    folders = read_folders()
    generator = random.Random(SEED)
    papers = make_papers(generator, PAPERS)
    problems = list(PROBLEMS)
    topics = [
        make_topic(generator, papers, problems[number % len(problems)])
        for number in range(SHOWN + HELD_BACK)
    ]
    generator.shuffle(topics)
    number_of = {paper.arxiv: paper.number for paper in papers}
    entries = [
        {
            **asdict(topic),
            "findings": {identity: number_of[identity] for identity in sorted(topic.relevant)},
        }
        for topic in topics
    ]
    write_json(folders.public / "topics.json", entries[:SHOWN])
    write_json(folders.private / "topics.json", entries[SHOWN:])
    write_papers(folders.private / "papers.json", papers)


if __name__ == "__main__":
    main()
