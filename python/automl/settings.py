"""Learns what the task asks for, measures itself on rows it did not see, writes its answer."""

import os
import signal
from time import perf_counter

SEED = int(os.environ.get("MLAB_SEED", "0"))

# Where the ids of the rows to predict are, and what is to be written.
TEST = "data/test.csv"
SUBMISSION = "submission.csv"
ID = "id"
TARGETS = ["target"]
COLUMNS = ["target"]
"""What the targets are called in the submission."""
CLASS_COLUMNS: list[list[str]] = []
"""Columns of the submission that hold the probability of one class each, and that class."""
WRITES_PROBABILITY = False
VALUES: list[str] = []
"""The only values that the column may have, in the task's order; empty if it lists none."""
POSITIVE: list[str] = []
"""What the task says a probability, or its metric, is about."""
ROUNDS_TO_WHOLE: list[str] = []
"""Columns of the submission that hold whole numbers."""
BOUNDS = [[-1e300, 1e300]]
TEXTS: list[str] = []
"""What lines of JSON have as texts: ids and columns; the rest are numbers."""
CLASSIFIES = False
MANY_CLASSES = False
"""More than two: boosting then makes a tree for each class in each round."""
ARE_LABELS = False
"""Each target is 1 or 0: whether something holds."""
METRIC = "mae"
METRIC_NAME = "MAE"
QUANTILES = [0.5]
"""That a pinball loss is about; one for each target."""
UNIT = 1
"""What the score is multiplied by where it is printed: 100 where the task counts in percent."""
MEMBERS = ["boosting", "linear", "forest"]
SECONDS = 60
"""What does not fit into this time is left out."""

STARTED = perf_counter()
# A script that takes far longer than it may ends itself, if it does not do so earlier anyway.
signal.alarm(min(signal.alarm(0) or 10**6, 10 + 3 * SECONDS))


def seconds_left() -> float:
    return SECONDS - (perf_counter() - STARTED)
