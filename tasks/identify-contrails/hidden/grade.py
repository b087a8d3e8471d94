"""Mean Dice of the submitted masks, compared with that of empty masks on the same records.

At least about half of all records show no contrail, so empty masks are a strong baseline; how
strong depends on the records. Its score is computed here, and the submission compared with it.
"""

import json
import os
import sys
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).parent))

from run_lengths import BadRuns, decode_runs, dice

from mlab_task.grading import Score, grade, read_arguments, read_labels
from mlab_task.problems import Rejected, Tally, quoted
from mlab_task.submission import Submission


def main() -> None:
    arguments = read_arguments()
    size = json.loads((arguments.private / "size.json").read_text())
    shape = size["height"], size["width"]
    labels = read_labels(arguments.private / "labels.csv", "record_id", "encoded_pixels")
    # Packed eight pixels per byte, so that thousands of records fit into memory.
    truths = {
        record: np.packbits(decode_runs(text, *shape), axis=None) for record, text in labels.items()
    }
    empty = np.zeros(shape, dtype=bool)

    def truth(record: str) -> np.ndarray:
        return np.unpackbits(truths[record], count=empty.size).reshape(shape).astype(bool)

    baseline = fmean(dice(truth(record), empty) for record in labels)

    def score(submission: Submission) -> Score:
        texts = submission.table.column("encoded_pixels", list(labels))
        scores: dict[bool, list[float]] = {True: [], False: []}
        refused = Tally()
        for record, text in zip(labels, texts, strict=True):
            try:
                predicted = decode_runs(str(text), *shape)
            except BadRuns as error:
                refused.add(f"record {quoted(record)}: {error}")
                continue
            actual = truth(record)
            scores[bool(actual.any())].append(dice(actual, predicted))
        if refused.count:
            several = "1 mask is" if refused.count == 1 else f"{refused.count:,} masks are"
            raise Rejected("not_allowed", f"{several} not valid run lengths: {refused.describe()}")
        details = {
            "dice_with_contrails": fmean(scores[True]) if scores[True] else None,
            "dice_without_contrails": fmean(scores[False]) if scores[False] else None,
        }
        return Score(fmean(scores[True] + scores[False]), baseline, details)

    grade(score, arguments)


if __name__ == "__main__":
    main()
