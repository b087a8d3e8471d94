"""Parkinson's patients: some are hidden, and only the beginning of their records is public.

The main task hides a quarter of the patients, selected by a hash of their ids. Each of the records
is cut off after one visit, selected in the same way: nothing later is public, and forecasts start
there. The variant `paper` hides the two patients of the paper and publishes the tables of all their
visits, with a forecast from each.
"""

import csv
import hashlib
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import Folders, read_folders, read_table, write_table

SCORES = ("updrs_1", "updrs_2", "updrs_3", "updrs_4")
WAITS = (0, 6, 12, 24)
LAST_MONTH = 108

HIDDEN_SHARE = 4
"""One in this many patients is hidden."""

PAPER_SEED, PAPER_PATIENTS = 42, 2

Months = dict[str, list[int]]
"""The months of each patient's visits, ascending."""


def hash_of(text: str) -> int:
    """A pseudorandom number that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def choose_patients(patients: list[str], variant: str | None) -> list[str]:
    """The hidden patients.

    :param patients: all of them, each once, in the order of the file
    """
    if variant == "paper":
        return random.Random(PAPER_SEED).sample(patients, PAPER_PATIENTS)
    ordered = sorted(patients, key=lambda patient: hash_of(f"hidden patient {patient}"))
    return ordered[: len(patients) // HIDDEN_SHARE]


def choose_visit(patient: str, months: list[int]) -> int:
    """The month of the last public visit, with a later one to forecast if there is any."""
    followed = [m for m in months if any(m + wait in months for wait in WAITS if wait > 0)]
    choices = followed or months[-1:]
    return choices[hash_of(f"last visit of {patient}") % len(choices)]


def stream(file: Path) -> Iterator[list[str]]:
    """The rows of a table that is too large for memory, with its header first."""
    with file.open(encoding="utf-8-sig", newline="") as opened:
        yield from csv.reader(opened)


def split_measurements(folders: Folders, source: Path, name: str, shown: Months) -> None:
    """Splits a table by patient, without the hidden visits."""
    header = next(stream(source / f"train_{name}.csv"))
    patient, month = header.index("patient_id"), header.index("visit_month")

    def rows(of_hidden: bool) -> Iterator[list[str]]:
        for row in stream(source / f"train_{name}.csv"):
            if row == header or (row[patient] in shown) != of_hidden:
                continue
            if not of_hidden or int(row[month]) <= shown[row[patient]][-1]:
                yield row

    write_table(folders.public / f"train_{name}.csv", header, rows(of_hidden=False))
    write_table(folders.public / f"test_{name}.csv", header, rows(of_hidden=True))


def main() -> None:
    folders = read_folders()
    source = folders.downloads / "amp-parkinsons-disease-progression-prediction"
    header, clinical = read_table(source / "train_clinical_data.csv")
    patient, month = header.index("patient_id"), header.index("visit_month")

    months: Months = {}
    for row in clinical:
        months.setdefault(row[patient], []).append(int(row[month]))
    hidden = choose_patients(list(months), folders.variant)
    months = {name: sorted(months[name]) for name in months if name in hidden}
    if folders.variant == "paper":
        shown = asked = months
    else:
        asked = {name: [choose_visit(name, visits)] for name, visits in months.items()}
        shown = {
            name: [visit for visit in visits if visit <= asked[name][0]]
            for name, visits in months.items()
        }

    write_table(
        folders.public / "train_clinical_data.csv",
        header,
        (row for row in clinical if row[patient] not in months),
    )
    supplement = read_table(source / "supplemental_clinical_data.csv")
    write_table(folders.public / "supplemental_clinical_data.csv", *supplement)
    split_measurements(folders, source, "proteins", shown)
    split_measurements(folders, source, "peptides", shown)
    write_table(
        folders.public / "test_visits.csv",
        ["visit_id", "patient_id", "visit_month"],
        ([f"{name}_{visit}", name, visit] for name in shown for visit in shown[name]),
    )
    write_forecasts(folders, header, clinical, asked)


def write_forecasts(
    folders: Folders, header: list[str], clinical: list[list[str]], asked: Months
) -> None:
    """Requests each score and horizon from each visit, and stores the measured answers."""
    patient, month = header.index("patient_id"), header.index("visit_month")
    measured = {
        (row[patient], int(row[month]), score): row[header.index(score)]
        for row in clinical
        for score in SCORES
        if row[header.index(score)] != ""
    }
    questions, labels = [], []
    for name in asked:
        for visit in asked[name]:
            for score in SCORES:
                for wait in (wait for wait in WAITS if visit + wait <= LAST_MONTH):
                    prediction = f"{name}_{visit}_{score}_plus_{wait}_months"
                    questions.append([prediction, name, visit, score, wait])
                    if (name, visit + wait, score) in measured:
                        labels.append([prediction, measured[name, visit + wait, score]])
    columns = ["prediction_id", "patient_id", "visit_month", "score", "months_ahead"]
    write_table(folders.public / "test.csv", columns, questions)
    write_table(folders.private / "labels.csv", ["prediction_id", "rating"], labels)


if __name__ == "__main__":
    main()
