"""Writes the submission."""

import csv
from pathlib import Path

import numpy as np

from automl.data import Data
from automl.scores import Prediction
from automl.settings import (
    BOUNDS,
    CLASS_COLUMNS,
    CLASSIFIES,
    COLUMNS,
    ID,
    ROUNDS_TO_WHOLE,
    SUBMISSION,
    WRITES_PROBABILITY,
)


def write_submission(data: Data, guess: Prediction) -> None:
    columns: dict[str, np.ndarray] = {}
    if CLASS_COLUMNS:
        for name, told in CLASS_COLUMNS:
            columns[name] = guess[:, data.classes.index(told)]
    elif CLASSIFIES and WRITES_PROBABILITY:
        columns[COLUMNS[0]] = guess[:, 1]
    elif CLASSIFIES:
        columns[COLUMNS[0]] = np.array(data.classes, dtype=object)[guess.argmax(axis=1)]
    else:
        for place, name in enumerate(COLUMNS):
            column = np.clip(guess[:, place], *BOUNDS[place])
            columns[name] = column.round().astype(int) if name in ROUNDS_TO_WHOLE else column
    Path(SUBMISSION).parent.mkdir(parents=True, exist_ok=True)
    with open(SUBMISSION, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ID, *columns])
        writer.writerows(zip(data.ids, *columns.values(), strict=True))
