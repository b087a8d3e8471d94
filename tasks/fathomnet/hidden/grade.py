"""MAP@20 of the ranked categories on the hidden dives."""

import os
import re
import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from average_precision import average_precision

from mlab_task.grading import grade, read_arguments, read_labels
from mlab_task.problems import Rejected, Tally, quoted
from mlab_task.submission import Submission

_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)


def read_rankings(cells: dict[str, str], known: frozenset[int]) -> dict[str, list[int]]:
    """Categories by image id, the best first.

    :raises Rejected: something is not a number or a category, or a list is longer than `known`
    """
    strange, unknown, long = Tally(), Tally(), Tally()
    rankings = {}
    for identifier, cell in cells.items():
        # One more is enough to detect that there are too many.
        words = cell.split(None, len(known))
        if len(words) > len(known):
            long.add(identifier)
            continue
        strangers = [word for word in words if not _NUMBER.fullmatch(word)]
        if strangers:
            strange.add(f"{quoted(strangers[0])} ({identifier})")
            continue
        ranking = [int(word) for word in words]
        beyond = [category for category in ranking if category not in known]
        if beyond:
            unknown.add(f"{beyond[0]} ({identifier})")
        rankings[identifier] = ranking
    if strange.count:
        text = f"{strange.count:,} lists contain values other than integers: {strange.describe()}"
        raise Rejected("not_a_number", f"column categories: {text}")
    if unknown.count:
        text = f"{unknown.count:,} lists contain an id that is not in category_key.csv: "
        raise Rejected("not_allowed", f"column categories: {text}{unknown.describe()}")
    if long.count:
        text = f"{long.count:,} lists are longer than the {len(known)} categories: "
        raise Rejected("out_of_range", f"column categories: {text}{long.describe()}")
    return rankings


def main() -> None:
    arguments = read_arguments()
    labels = read_labels(arguments.private / "labels.csv", "id", "categories")
    truth = {name: frozenset(map(int, cell.split())) for name, cell in labels.items()}
    names = read_labels(arguments.public / "category_key.csv", "id", "name")
    known = frozenset(map(int, names))

    def score(submission: Submission) -> float:
        cells = submission.table.column("categories", list(truth))
        rankings = read_rankings(dict(zip(truth, map(str, cells), strict=True)), known)
        return fmean(average_precision(truth[name], rankings[name]) for name in truth)

    grade(score, arguments)


if __name__ == "__main__":
    main()
