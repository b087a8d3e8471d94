"""Predicts the solubility of molecules from character counts, and writes submission.csv."""

import os
import re

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))

PENALTY = 1.0
VALIDATION_SHARE = 0.2
# Patterns in a SMILES string; lower-case letters are atoms of aromatic rings.
PATTERNS = [
    "C(?!l)",
    "c",
    "N",
    "n",
    "O",
    "o",
    "S",
    "s",
    "F",
    "Cl",
    "Br",
    "I",
    "P",
    "=",
    "#",
    r"\(",
    r"\d",
]


def count_patterns(smiles: pd.Series) -> np.ndarray:
    """How often each pattern occurs, shape (molecules, patterns)."""
    return np.array([[len(re.findall(pattern, text)) for pattern in PATTERNS] for text in smiles])


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    features, solubility = count_patterns(train["smiles"]), train["log_solubility"]
    train_x, valid_x, train_y, valid_y = train_test_split(
        features, solubility, test_size=VALIDATION_SHARE, random_state=SEED
    )

    model = Ridge(alpha=PENALTY).fit(train_x, train_y)
    print(f"train RMSE: {root_mean_squared_error(train_y, model.predict(train_x)):.4f}")
    print(f"validation RMSE: {root_mean_squared_error(valid_y, model.predict(valid_x)):.4f}")

    predictions = model.fit(features, solubility).predict(count_patterns(test["smiles"]))
    submission = pd.DataFrame({"id": test["id"], "log_solubility": predictions})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
