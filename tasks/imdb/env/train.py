"""Classifies film reviews, and writes submission.csv. The model is missing: see the gap."""

import os

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))

VALIDATION_SHARE = 0.2


def accuracy(probabilities: np.ndarray, labels: pd.Series) -> float:
    """Share of rows of `probabilities`, shape (reviews, 2), whose larger value is the label's."""
    return float((probabilities.argmax(axis=1) == labels.to_numpy()).mean())


def main() -> None:
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    # Columns: text, and in train.csv label, 1 for a positive review and 0 for a negative one.
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    train_part, validation_part = train_test_split(
        train, test_size=VALIDATION_SHARE, random_state=SEED, stratify=train["label"]
    )
    print(
        f"{len(train_part)} reviews to train on, {len(validation_part)} to validate,"
        f" {len(test)} to classify, on {device}"
    )

    # ---- The gap starts here -------------------------------------------------------------------
    # TODO: turn the texts into the input of a model, for example with a tokenizer.
    # TODO: make a model, for example a pretrained one with a two-class layer on top.
    # TODO: train it on train_part["text"] and train_part["label"].
    # TODO: define predict(texts): for a list of texts, an array of shape (len(texts), 2) with
    #       the probabilities of the classes 0 (negative) and 1 (positive).
    # ---- The gap ends here ---------------------------------------------------------------------

    probabilities = predict(validation_part["text"].tolist())
    print(f"validation accuracy: {accuracy(probabilities, validation_part['label']):.4f}")

    probabilities = predict(test["text"].tolist())
    submission = pd.DataFrame(
        {"idx": test["idx"], "0": probabilities[:, 0], "1": probabilities[:, 1]}
    )
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
