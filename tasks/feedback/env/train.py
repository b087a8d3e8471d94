"""Scores essays, and writes submission.csv. The model is missing: scores are drawn at random."""

import os

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))
SCORES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
VALIDATION_SHARE = 0.1
SPLIT_SEED = 42


def mcrmse(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Mean over the columns of the root mean squared error; inputs of shape (essays, 6)."""
    return float(np.sqrt(((labels - predictions) ** 2).mean(axis=0)).mean())


class Model:
    """Stands where a model belongs."""

    def fit(self, texts: pd.Series, scores: np.ndarray) -> None:
        """TODO: learn from essays and their scores, of shape (essays, 6)."""
        self.random = np.random.default_rng(SEED)

    def predict(self, texts: pd.Series) -> np.ndarray:
        """TODO: scores of shape (essays, 6). These are drawn from [0, 1)."""
        return self.random.random((len(texts), len(SCORES)))


def main() -> None:
    essays = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    train, valid = train_test_split(essays, test_size=VALIDATION_SHARE, random_state=SPLIT_SEED)
    print(
        f"{len(train)} essays for training, {len(valid)} for validation, {len(test)} to be scored"
    )

    model = Model()
    model.fit(train["full_text"], train[SCORES].to_numpy())
    error = mcrmse(valid[SCORES].to_numpy(), model.predict(valid["full_text"]))
    print(f"validation MCRMSE: {error:.4f}")

    submission = pd.DataFrame(model.predict(test["full_text"]), columns=SCORES)
    submission.insert(0, "text_id", test["text_id"])
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
