"""Fits the model named in settings.json and predicts data/pairs.csv."""
import json
import os
import sys

import numpy as np
import pandas as pd

from recommender import MODELS


def rmse(truth, guess):
    return float(np.sqrt(np.mean((np.asarray(truth) - np.asarray(guess)) ** 2)))


def build(settings):
    options = dict(settings["model"])
    return MODELS[options.pop("kind")](**options)


def main(path="settings.json"):
    with open(path) as f:
        settings = json.load(f)
    seed = int(os.environ.get("MLAB_SEED", settings["seed"]))
    low, high = settings["clip"]

    ratings = pd.read_csv("data/ratings.csv")
    pairs = pd.read_csv("data/pairs.csv")

    shuffled = ratings.sample(frac=1, random_state=seed)
    n = int(len(shuffled) * settings["validation_share"])
    valid, train = shuffled.iloc[:n], shuffled.iloc[n:]
    guess = np.clip(build(settings).fit(train).predict(valid), low, high)
    print(f"users {ratings.user.nunique()}, games {ratings.game.nunique()}, ratings {len(ratings)}")
    print(f"RMSE = {rmse(valid['rating'], guess):.4f} (validation)")

    model = build(settings).fit(ratings)
    stars = np.clip(model.predict(pairs), low, high)
    pd.DataFrame({"pair": pairs["pair"], "stars": stars}).to_csv(settings["output"], index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
