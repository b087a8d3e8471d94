"""Eighty points near a plane: 60 for training, 20 as hidden test."""

import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN_ROWS = 60
HEADER = ["id", "a", "b", "y"]


def main() -> None:
    folders = read_folders()
    numbers = random.Random(1)
    rows = []
    for number in range(80):
        a, b = numbers.uniform(-1, 1), numbers.uniform(-1, 1)
        rows.append([number, a, b, 3 * a - 2 * b + 1 + numbers.gauss(0, 0.1)])
    write_table(folders.public / "train.csv", HEADER, rows[:TRAIN_ROWS])
    write_hidden_test(folders, HEADER, rows[TRAIN_ROWS:], "id", "y")


if __name__ == "__main__":
    main()
