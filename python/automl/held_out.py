"""Runs the script without the answers of some rows, and scores what it then says of these rows."""

import base64
import csv
import json
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from automl.data import Data, write_submission
from automl.formats import Columns, is_table, read_table, with_rows
from automl.scores import Prediction, loss_of
from automl.settings import (
    CLASS_COLUMNS,
    CLASSIFIES,
    COLUMNS,
    ID,
    SECONDS,
    SUBMISSION,
    TARGETS,
    TEST,
    UNIT,
    WRITES_PROBABILITY,
)
from automl.table import ANSWERS, TRAIN, ids_in, read_data, read_tables

ENTRY = "train.py"
PART = 0
"""Which rows are withheld: those of one part are not among those of another."""
OTHER = ""
"""What another version says of these rows, as this program prints it; empty if there is none."""
TOGETHER: list[str] = []
"""
The same of several versions: if there are any, their mean is measured, and nothing is run. For
`average`: what they say of the rows to predict.
"""

TRIAL = Path("held_out")
SHARE = 0.25
MOST_NUMBERS = 2_000
"""In all answers together, since they are printed."""
LEAST_ROWS = 20
DRAWS = 200
"""Of the bootstrap."""
DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")
OWN = 1 + 1e-9
"""The weight of the own answers in a mean: they decide between two classes."""


def measure() -> None:
    try:
        found = measured()
    except (ValueError, KeyError, OSError, UnicodeError, subprocess.TimeoutExpired) as problem:
        found = {"problem": f"{type(problem).__name__}: {problem}"[:300]}
    print(f"HELD OUT {json.dumps(found)}")


def measured() -> dict[str, object]:
    data = read_data([])
    held, counts = choose(data)
    if TOGETHER:
        guess = np.mean([unpacked(each, data) for each in TOGETHER], axis=0)
    else:
        ids = write_trial(read_tables()[0], held)
        run_trial()
        guess = answers_in(TRIAL / SUBMISSION, ids, data.classes)
    answers = packed(guess)
    return {
        # As exact as the other version's answers, which were printed.
        "gain": gain(data.truth[held], unpacked(answers, data), data, np.flatnonzero(counts)),
        "answers": answers,
    }


def tell() -> None:
    """Passes the submission on."""
    data = read_data([])
    print(f"SUBMISSION {packed(answers_in(Path(SUBMISSION), data.ids, data.classes))}")


def average() -> None:
    """Makes the submission the mean of it and others; of classes the most frequent one counts."""
    data = read_data([])
    others = [unpacked(each, data) for each in TOGETHER]
    guesses = [answers_in(Path(SUBMISSION), data.ids, data.classes), *others]
    write_submission(data, np.average(guesses, axis=0, weights=[OWN, *([1] * len(others))]))


def packed(guess: Prediction) -> str:
    return base64.b64encode(zlib.compress(guess.astype("f4").tobytes(), 9)).decode()


def unpacked(answers: str, data: Data) -> Prediction:
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(answers)), "f4")
    return numbers.reshape(-1, len(data.classes or COLUMNS)).astype(float)


def run_trial() -> None:
    run = subprocess.run(
        [sys.executable, ENTRY], cwd=TRIAL, timeout=SECONDS, capture_output=True, text=True
    )
    if run.returncode != 0:
        raise ValueError(f"without these rows it ends with {run.returncode}: {run.stderr[-200:]}")


def choose(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """
    Which rows are withheld, separated from the others as those to predict are, and which of them
    count. If the rows to predict are later ones, the last are withheld, of which half count.
    """
    rng = np.random.default_rng(7)
    most = int(min(SHARE * data.rows, MOST_NUMBERS / len(data.classes or COLUMNS)))
    if data.when is not None:
        held = np.argsort(data.when[: data.rows], kind="stable")[data.rows - most :]
        counts = (rng.random(most) < 0.5) == (PART == 0)
    else:
        names = np.arange(data.rows) if data.groups is None else data.groups
        groups, sizes = np.unique(names, return_counts=True)
        order = rng.permutation(len(groups))
        chosen = groups[order[np.cumsum(sizes[order]) // max(most, 1) == PART]]
        held = np.flatnonzero(np.isin(names, chosen))
        counts = np.full(len(held), True)
    if counts.sum() < LEAST_ROWS or (PART > 1 and data.when is not None):
        raise ValueError(f"{data.rows} rows are too few to withhold some")
    return held, counts


def write_trial(train: Columns, held: np.ndarray) -> list[str]:
    """A copy of the workspace in which the held rows are those to predict; returns their ids."""
    inside = [each for each in (*TRAIN, ANSWERS) if each and not Path(each).is_file()]
    if inside:
        raise ValueError(f"{inside[0]} is in a file with others")
    shutil.rmtree(TRIAL, ignore_errors=True)
    left_out = shutil.ignore_patterns(TRIAL.name, "data", "__pycache__", SUBMISSION)
    shutil.copytree(".", TRIAL, ignore=left_out, symlinks=True)
    asked, ids = set(read_table(TEST)[ID]), [train[ID][row] for row in held]
    for path in [each for each in sorted(Path("data").rglob("*")) if each.is_file()]:
        place = TRIAL / path
        place.parent.mkdir(parents=True, exist_ok=True)
        table = read_table(str(path)) if is_table(path) else {}
        if str(path) in (*TRAIN, ANSWERS):
            gone = set(ids)
            kept = [each not in gone for each in ids_in(str(path), table)]
            write_table(path, place, with_rows(table, kept))
        elif ID in table and set(table[ID]) == asked:
            # The rows to predict, or a template of the submission, whose values stay as they are.
            shown = train.keys() - set(TARGETS)
            rows = {
                name: [train[name][row] for row in held] if name in shown else cells[:1] * len(held)
                for name, cells in table.items()
            }
            write_table(path, place, {**rows, ID: ids})
        else:
            place.symlink_to(path.resolve())
    share_files(set(ids), asked)
    return ids


def share_files(ids: set[str], asked: set[str]) -> None:
    """Withheld rows have their files, called by ids, where the rows to predict have theirs."""
    files = [path for path in TRIAL.joinpath("data").rglob("*") if path.is_file()]
    folders = {path.parent for path in files if path.stem in asked}
    for path in [path for path in files if path.stem in ids]:
        for folder in folders - {path.parent}:
            folder.joinpath(path.name).symlink_to(path.resolve())


def write_table(like: Path, place: Path, table: Columns) -> None:
    if like.suffix.lower() == ".jsonl":
        known = {str(row[ID]): row for path in {*TRAIN, str(like)} for row in lines_of(Path(path))}
        first = lines_of(like)[0]
        # A placeholder stays one.
        hidden = set() if str(like) in (*TRAIN, ANSWERS) else set(TARGETS)
        rows = (
            {name: first[name] if name in hidden else known[each].get(name) for name in first}
            for each in table[ID]
        )
        place.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return
    if like.suffix.lower() not in (".csv", ".tsv"):
        raise ValueError(f"{like} is no table that can be written again")
    with open(like, encoding="utf-8-sig", errors="replace") as file:
        head, *some = [line for line, _ in zip(file, range(100), strict=False)]
    delimiter = max(",;\t", key=head.count)
    have_commas = delimiter == ";" and re.search(r";\s*-?\d+,\d+\s*(;|$)", "".join(some), re.M)
    with open(place, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow(map(with_comma, row) if have_commas else row)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The objects of lines of JSON; none of other files."""
    if path.suffix.lower() != ".jsonl":
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def with_comma(cell: str) -> str:
    return cell.replace(".", ",") if DECIMAL_POINT.fullmatch(cell) else cell


def answers_in(path: Path, ids: list[str], classes: list[str]) -> Prediction:
    """What a submission says of some ids; raises KeyError for an id that it leaves out."""
    if path.suffix == ".npy":
        table = {ID: ids, COLUMNS[0]: list(map(str, np.load(path, allow_pickle=False)))}
    else:
        table = read_table(str(path))
    places = {each: row for row, each in enumerate(table[ID])}
    rows = [places[each] for each in ids]
    if CLASSIFIES and not CLASS_COLUMNS and not WRITES_PROBABILITY:
        return np.eye(len(classes))[[classes.index(table[COLUMNS[0]][row].strip()) for row in rows]]
    by_class = {told: name for name, told in CLASS_COLUMNS}
    names = [by_class[each] for each in classes] if CLASS_COLUMNS else COLUMNS
    guess = np.array([[float(table[name][row]) for name in names] for row in rows])
    if not np.isfinite(guess).all():
        raise ValueError("not all of its answers are numbers")
    return np.hstack([1 - guess, guess]) if WRITES_PROBABILITY else guess


def gain(
    truth: np.ndarray, guess: Prediction, data: Data, rows: np.ndarray
) -> dict[str, float] | None:
    """
    By how much the metric is better than the other version's on some rows, in the metric's unit,
    and the standard error of that (paired bootstrap).
    """
    if not OTHER:
        return None
    other, rng = unpacked(OTHER, data), np.random.default_rng(11)

    def fall(chosen: np.ndarray) -> float:
        losses = [loss_of(truth[chosen], each[chosen]) for each in (other, guess)]
        return UNIT * float(losses[0] - losses[1])

    drawn = [fall(rng.choice(rows, len(rows))) for _ in range(DRAWS)]
    return {"gain": fall(rows), "error": float(np.std(drawn))}
