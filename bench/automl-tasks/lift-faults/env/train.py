"""Classify lift event logs by letter counts + k nearest neighbours."""

import logging
import os

import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from features import feature_matrix

config = {
    "seed": int(os.environ.get("MLAB_SEED", "0")),
    "valid_fraction": 0.25,
    "n_neighbors": 5,
    "weights": "distance",
}

log = logging.getLogger("lifts")


def make_model():
    return KNeighborsClassifier(n_neighbors=config["n_neighbors"], weights=config["weights"])


def run():
    train = pd.read_csv("data/train.csv")
    log.info("read %d logs, lengths %d to %d", len(train), train.events.str.len().min(), train.events.str.len().max())

    fit, valid = train_test_split(
        train, test_size=config["valid_fraction"], random_state=config["seed"], stratify=train.fault
    )
    model = make_model().fit(feature_matrix(fit.events), fit.fault)
    guessed = model.predict(feature_matrix(valid.events))
    log.info("validation: %d logs, balanced accuracy = %.3f", len(valid), balanced_accuracy_score(valid.fault, guessed))

    test = pd.read_csv("data/test.csv")
    model = make_model().fit(feature_matrix(train.events), train.fault)
    test["fault"] = model.predict(feature_matrix(test.events))
    test[["log_id", "fault"]].to_csv("predictions.csv", index=False)
    log.info("wrote predictions.csv")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    run()
