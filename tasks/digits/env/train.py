"""Recognises handwritten digits with a small neural network, and writes submission.csv."""

import csv
import os

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

SEED = int(os.environ.get("MLAB_SEED", "0"))

HIDDEN_UNITS = 256
LEARNING_RATE = 0.002
MOMENTUM = 0.9
EPOCHS = 15
BATCH_SIZE = 50
WEIGHT_DECAY = 0.0001
PIXEL_SCALE = 16.0


def read_table(path: str) -> tuple[list[str], np.ndarray]:
    """The header of a CSV file and its numbers."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def main() -> None:
    # Columns: id, 64 pixels from 0 (white) to 16 (black), and in train.csv the digit.
    _, train = read_table("data/train.csv")
    _, test = read_table("data/test.csv")
    images, digits = train[:, 1:65] / PIXEL_SCALE, train[:, 65].astype(int)
    train_images, validation_images, train_digits, validation_digits = train_test_split(
        images, digits, test_size=0.2, random_state=SEED, stratify=digits
    )

    model = MLPClassifier(
        hidden_layer_sizes=(HIDDEN_UNITS,),
        solver="sgd",
        learning_rate_init=LEARNING_RATE,
        momentum=MOMENTUM,
        batch_size=BATCH_SIZE,
        alpha=WEIGHT_DECAY,
        random_state=SEED,
    )
    for epoch in range(EPOCHS):
        model.partial_fit(train_images, train_digits, classes=np.arange(10))
        print(f"epoch {epoch + 1}: loss {model.loss_:.4f}")

    print(f"train accuracy: {model.score(train_images, train_digits):.4f}")
    print(f"validation accuracy: {model.score(validation_images, validation_digits):.4f}")

    predictions = model.predict(test[:, 1:65] / PIXEL_SCALE)
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "digit"])
        writer.writerows(zip(test[:, 0].astype(int), predictions, strict=True))


if __name__ == "__main__":
    main()
