"""Recognises handwritten digits with a support vector machine, and writes submission.csv."""

import csv
import os

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

SEED = int(os.environ.get("MLAB_SEED", "0"))


def read_table(path: str) -> tuple[list[str], np.ndarray]:
    """The header of a CSV file and its numbers."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def main() -> None:
    _, train = read_table("data/train.csv")
    _, test = read_table("data/test.csv")
    images, digits = train[:, 1:65] / 16.0, train[:, 65].astype(int)
    train_images, validation_images, train_digits, validation_digits = train_test_split(
        images, digits, test_size=0.2, random_state=SEED, stratify=digits
    )

    model = SVC(C=10.0, gamma=0.1)
    model.fit(train_images, train_digits)
    print(f"validation accuracy: {model.score(validation_images, validation_digits):.4f}")

    # Validation is done: train on all labelled images.
    model.fit(images, digits)
    predictions = model.predict(test[:, 1:65] / 16.0)
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "digit"])
        writer.writerows(zip(test[:, 0].astype(int), predictions, strict=True))


if __name__ == "__main__":
    main()
