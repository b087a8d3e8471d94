"""Synthetic patients in Kaggle's four tables: the ill come more often and slowly get worse."""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

PATIENTS, SUPPLEMENTARY_PATIENTS = 120, 40
HEALTHY_SHARE = 0.35
YEARLY = (0, 12, 24, 36, 48, 60, 84, 96)
FREQUENT = (0, 3, 6, 9, 12, 18, 24, 30, 36, 42, 48, 54, 60, 72, 84, 96)
SUPPLEMENTARY = (0, 6, 12, 24, 36)
MISSED_SHARE = 0.04

# Score at month 0 and increase in ten years, both for a patient of medium severity.
COURSES = ((7, 4), (8, 7), (22, 9), (1.5, 4))
HEALTHY_MEANS = (3.5, 0.4, 0.8, 0.0)
PROTEINS = ("O00533", "O15240", "P01011", "P02753", "P05067", "P10645", "P13521", "Q06481")
AMINO_ACIDS = list("ACDEFGHIKLMNPQRSTVWY")
CLINICAL_HEADER = [
    *("visit_id", "patient_id", "visit_month", "updrs_1", "updrs_2", "updrs_3", "updrs_4"),
    "upd23b_clinical_state_on_medication",
]
PROTEIN_HEADER = ["visit_id", "visit_month", "patient_id", "UniProt", "NPX"]
PEPTIDE_HEADER = [*PROTEIN_HEADER[:4], "Peptide", "PeptideAbundance"]

Row = list[object]


def make_visit(
    random: np.random.Generator, patient: int, month: int, severity: float | None
) -> Row:
    """A row of the clinical table; a severity of None means a healthy volunteer."""
    scores: Row = []
    for (start, rise), healthy in zip(COURSES, HEALTHY_MEANS, strict=True):
        ill = severity is not None
        mean = severity * (start + rise * month / 120) if ill else healthy
        scores.append(int(random.poisson(mean * random.uniform(0.75, 1.25))))
    medicated = severity is not None and random.random() < 0.02 * month
    # Complications of treatment are assessed only if there is treatment, and are often 0.
    if random.random() < 0.6:
        scores[3] = 0
    if month < 12 and random.random() < 0.7:
        scores[3] = ""
    state = random.choice(["On", "Off"], p=[0.6, 0.4]) if medicated else ""
    return [f"{patient}_{month}", patient, month, *scores, str(state)]


def make_patients(
    random: np.random.Generator, names: np.ndarray, calendars: tuple[tuple[int, ...], ...]
) -> tuple[list[Row], dict[int, float | None]]:
    """Clinical rows of all patients, and how ill each of them is.

    :param calendars: the months in which healthy volunteers come, and those of the ill
    """
    rows, severities = [], {}
    for patient in names.tolist():
        healthy = random.random() < HEALTHY_SHARE
        severities[patient] = None if healthy else float(random.lognormal(0, 0.35))
        last = random.choice([48, 60, 84, 96], p=[0.2, 0.3, 0.3, 0.2])
        for month in calendars[0 if healthy else 1]:
            if month == 0 or (month <= last and random.random() >= MISSED_SHARE):
                rows.append(make_visit(random, patient, month, severities[patient]))
    return rows, severities


def make_measurements(
    random: np.random.Generator, clinical: list[Row], severities: dict[int, float | None]
) -> tuple[list[Row], list[Row]]:
    """Rows of the protein and of the peptide table, from half of the visits."""
    peptides = {
        protein: ["".join(random.choice(AMINO_ACIDS, random.integers(8, 16))) for _ in range(2)]
        for protein in PROTEINS
    }
    levels = dict(zip(PROTEINS, random.uniform(9, 14, len(PROTEINS)), strict=True))
    protein_rows, peptide_rows = [], []
    for visit, patient, month, *_ in clinical:
        if month % 6 != 0 or random.random() < 0.4:
            continue
        illness = severities[patient] or 0
        for place, protein in enumerate(PROTEINS):
            effect = -0.15 * illness if place % 2 == 0 else 0.0
            amount = np.exp(levels[protein] + effect + random.normal(0, 0.3))
            protein_rows.append([visit, month, patient, protein, round(amount, 1)])
            shares = random.dirichlet([5, 3])
            for peptide, share in zip(peptides[protein], shares, strict=True):
                abundance = round(amount * share, 1)
                peptide_rows.append([visit, month, patient, protein, peptide, abundance])
    return protein_rows, peptide_rows


def write_tables(folder: Path, random: np.random.Generator) -> None:
    total = PATIENTS + SUPPLEMENTARY_PATIENTS
    names = random.choice(np.arange(50, 65_000), total, replace=False)
    clinical, severities = make_patients(random, np.sort(names[:PATIENTS]), (YEARLY, FREQUENT))
    write_table(folder / "train_clinical_data.csv", CLINICAL_HEADER, clinical)
    proteins, peptides = make_measurements(random, clinical, severities)
    write_table(folder / "train_proteins.csv", PROTEIN_HEADER, proteins)
    write_table(folder / "train_peptides.csv", PEPTIDE_HEADER, peptides)
    more, _ = make_patients(random, np.sort(names[PATIENTS:]), (SUPPLEMENTARY, SUPPLEMENTARY))
    write_table(folder / "supplemental_clinical_data.csv", CLINICAL_HEADER, more)


def main() -> None:
    sample = read_sample()
    folder = sample.downloads / "amp-parkinsons-disease-progression-prediction"
    folder.mkdir()
    write_tables(folder, np.random.default_rng(sample.seed))


if __name__ == "__main__":
    main()
