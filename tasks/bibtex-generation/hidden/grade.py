"""Runs a submitted `cite` on hidden paragraphs, and scores its citations."""

import json
import math
import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from paragraphs import Sentence, text_of
from scoring import Corpus, score_paragraph

from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import SubmissionWorker, running_worker

SECONDS_PER_PARAGRAPH = 10
SECONDS_IN_ALL = 240
MOST_BYTES = 200_000


def main() -> None:
    arguments = read_arguments()
    paragraphs = [
        [Sentence(**sentence) for sentence in paragraph]
        for paragraph in read_json(arguments.private / "paragraphs.json")
    ]
    corpus = Corpus(read_json(arguments.private / "papers.json"))
    grade(lambda submission: score(submission, arguments, paragraphs, corpus), arguments)


def score(
    submission: Submission, arguments: Arguments, paragraphs: list[list[Sentence]], corpus: Corpus
) -> Score:
    """The mean over all paragraphs, in a fresh order."""
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    order = random.SystemRandom().sample(paragraphs, len(paragraphs))
    left = float(SECONDS_IN_ALL)
    scores = []
    with running_worker(arguments.exchange, submission.name) as worker:
        for paragraph in order:
            answer, seconds = cited(worker, text_of(paragraph), min(SECONDS_PER_PARAGRAPH, left))
            left = max(0.001, left - seconds)
            scores.append(
                score_paragraph(
                    [sentence.text for sentence in paragraph],
                    [sentence.papers for sentence in paragraph],
                    answer["paragraph"],
                    answer["bibtex"],
                    corpus,
                )
            )
    worthless = sum(value == 0 for value in scores)
    return Score(math.fsum(scores) / len(scores), details={"paragraphs_with_0": worthless})


def cited(worker: SubmissionWorker, paragraph: str, seconds: float) -> tuple[dict[str, str], float]:
    """The result of `cite` for a paragraph, and how long it took.

    :raises Rejected: it does not return a paragraph and its entries in time
    """
    answer, taken = worker.call_json(
        "cite", {"paragraph": paragraph}, seconds=seconds, most_bytes=MOST_BYTES
    )
    if not isinstance(answer, dict) or not all(
        isinstance(answer.get(name), str) for name in ("paragraph", "bibtex")
    ):
        raise Rejected("wrong_output", "cite must return strings `paragraph` and `bibtex`")
    return answer, taken


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
