"""Diabetes progression: 300 of the 442 patients for training, the others are the hidden test."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from sklearn.datasets import load_diabetes

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN_ROWS = 300
MEASUREMENTS = [
    "age",
    "sex",
    "body_mass_index",
    "blood_pressure",
    "cholesterol",
    "ldl",
    "hdl",
    "cholesterol_hdl_ratio",
    "log_triglycerides",
    "glucose",
]


def main() -> None:
    folders = read_folders()
    patients = load_diabetes(scaled=False)
    measurements = patients.data.tolist()
    header = ["id", *MEASUREMENTS, "progression"]
    rows = [
        [number, *measurements[position], float(patients.target[position])]
        for number, position in enumerate(order_by_content(measurements))
    ]
    write_table(folders.public / "train.csv", header, rows[:TRAIN_ROWS])
    write_hidden_test(folders, header, rows[TRAIN_ROWS:], "id", "progression")


if __name__ == "__main__":
    main()
