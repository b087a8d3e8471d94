"""NDCG@10 of recommended books."""

import csv
import json
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission

LENGTH = 10
arguments = read_arguments()
borrowed: dict[str, set[int]] = {}
with open(arguments.private / "borrowed.csv", newline="") as file:
    for row in csv.DictReader(file):
        borrowed.setdefault(row["reader_id"], set()).add(int(row["book_id"]))
database = sqlite3.connect(f"file:{arguments.public / 'library.sqlite'}?mode=ro&immutable=1", uri=True)
readers = {str(reader) for (reader,) in database.execute("SELECT reader_id FROM reader")}
books = {book for (book,) in database.execute("SELECT book_id FROM book")}


def check(lists: object) -> None:
    if not isinstance(lists, dict):
        raise Rejected("wrong_format", "recommendations.json must be an object")
    if lists.keys() != readers:
        missing, unknown = len(readers - lists.keys()), len(lists.keys() - readers)
        raise Rejected("wrong_format", f"{missing} readers are missing and {unknown} are unknown")
    for reader, chosen in lists.items():
        fits = isinstance(chosen, list) and all(type(book) is int for book in chosen)
        if not fits or len(chosen) != LENGTH or len(set(chosen)) != LENGTH or not books.issuperset(chosen):
            raise Rejected("wrong_values", f"reader {reader}: expected {LENGTH} different book_ids")


def ndcg(chosen: list[int], relevant: set[int]) -> float:
    gains = sum(1 / math.log2(rank + 2) for rank, book in enumerate(chosen) if book in relevant)
    return gains / sum(1 / math.log2(rank + 2) for rank in range(min(LENGTH, len(relevant))))


def score(submission: Submission) -> Score:
    try:
        lists = json.loads(submission.read("recommendations.json"))
    except (ValueError, RecursionError) as error:
        raise Rejected("wrong_format", f"recommendations.json is not JSON: {error}") from error
    check(lists)
    values = [ndcg(lists[reader], relevant) for reader, relevant in borrowed.items()]
    return Score(sum(values) / len(values), details={"readers": len(values)})


grade(score, arguments)
