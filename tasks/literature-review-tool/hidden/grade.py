"""Runs a submitted `review` on hidden topics, and scores the reports."""

import json
import math
import os
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from scoring import has_form, score_report

from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import running_worker

SECONDS_PER_TOPIC = 15
SECONDS_IN_ALL = 240
MOST_BYTES = 50_000


def main() -> None:
    arguments = read_arguments()
    topics = read_json(arguments.private / "topics.json")
    papers = {paper["arxiv"]: paper for paper in read_json(arguments.private / "papers.json")}
    grade(lambda submission: score(submission, arguments, topics, papers), arguments)


def score(
    submission: Submission,
    arguments: Arguments,
    topics: list[dict[str, Any]],
    papers: Mapping[str, Mapping[str, Any]],
) -> Score:
    """The mean over all topics, in a fresh order.

    :raises Rejected: `review` returns no text in time
    """
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    order = random.SystemRandom().sample(topics, len(topics))
    left = float(SECONDS_IN_ALL)
    scores = []
    misshapen = 0
    with running_worker(arguments.exchange, submission.name) as worker:
        for topic in order:
            report, seconds = worker.call_json(
                "review",
                {"topic": topic["text"]},
                seconds=min(SECONDS_PER_TOPIC, left),
                most_bytes=MOST_BYTES,
            )
            left = max(0.001, left - seconds)
            if not isinstance(report, str):
                raise Rejected("wrong_output", "review returned no string")
            misshapen += not has_form(report)
            scores.append(score_report(report, topic["aspects"], topic["findings"], papers))
    return Score(math.fsum(scores) / len(scores), details={"reports_of_another_form": misshapen})


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
