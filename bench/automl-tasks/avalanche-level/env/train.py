"""Avalanche danger from observers' reports: a shallow tree on the numbers and a few keywords."""

import json
import os
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from kappa import quadratic_weighted_kappa


@dataclass
class Config:
    seed: int = int(os.environ.get("MLAB_SEED", "0"))
    max_depth: int = 4
    valid_share: float = 0.2
    numbers: list = field(default_factory=lambda: ["wind_kmh", "temperature_c", "slope_deg", "height_m"])
    keywords: list = field(default_factory=lambda: ["slab", "slide", "cracks", "stable", "bonded"])


def to_features(df, cfg):
    x = df[cfg.numbers].fillna(df[cfg.numbers].median())
    for word in cfg.keywords:
        x["has_" + word] = df["note"].str.lower().str.contains(word).astype(int)
    x["note_length"] = df["note"].str.len()
    return x


def new_model(cfg):
    return DecisionTreeClassifier(max_depth=cfg.max_depth, random_state=cfg.seed)


def main(cfg):
    train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
    is_valid = np.random.default_rng(cfg.seed).random(len(train)) < cfg.valid_share
    fit, valid = train[~is_valid], train[is_valid]

    model = new_model(cfg).fit(to_features(fit, cfg), fit["level"])
    guesses = model.predict(to_features(valid, cfg))
    result = {
        "n_train": len(fit),
        "n_valid": len(valid),
        "valid_qwk": round(quadratic_weighted_kappa(valid["level"], guesses), 4),
        "valid_accuracy": round(float((guesses == valid["level"]).mean()), 4),
    }
    print(json.dumps({"config": asdict(cfg), "result": result}))

    model = new_model(cfg).fit(to_features(train, cfg), train["level"])
    test["level"] = model.predict(to_features(test, cfg))
    test[["report", "level"]].to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main(Config())
