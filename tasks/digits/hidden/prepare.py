"""Handwritten digits: 1,000 of the 1,797 images for training, the others are the hidden test."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from sklearn.datasets import load_digits

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN_ROWS = 1_000


def main() -> None:
    folders = read_folders()
    digits = load_digits()
    pixels = digits.data.astype(int).tolist()
    header = ["id", *(f"pixel_{row}_{column}" for row in range(8) for column in range(8)), "digit"]
    rows = [
        [number, *pixels[position], int(digits.target[position])]
        for number, position in enumerate(order_by_content(pixels))
    ]
    write_table(folders.public / "train.csv", header, rows[:TRAIN_ROWS])
    write_hidden_test(folders, header, rows[TRAIN_ROWS:], "id", "digit")


if __name__ == "__main__":
    main()
