"""Baseline recommender: everybody gives the mean rating to everything."""

import csv
import json
import math
import os
import random

config = {
    "ratings": "data/ratings.jsonl",
    "pairs": "data/test.csv",
    "out": "stars.csv",
    "val_every": 10,  # every 10th rating is for validation
    "clip": (0.5, 5.0),
    "seed": int(os.environ.get("MLAB_SEED", "0")),
}


def load_ratings(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def fit(ratings):
    return {"mean": sum(r["stars"] for r in ratings) / len(ratings)}


def predict(model, hiker, trail, month):
    lo, hi = config["clip"]
    return min(max(model["mean"], lo), hi)


def rmse(model, ratings):
    err = [(predict(model, r["hiker"], r["trail"], r["month"]) - r["stars"]) ** 2 for r in ratings]
    return math.sqrt(sum(err) / len(err))


if __name__ == "__main__":
    ratings = load_ratings(config["ratings"])
    random.Random(config["seed"]).shuffle(ratings)
    valid = ratings[:: config["val_every"]]
    train = [r for i, r in enumerate(ratings) if i % config["val_every"]]
    model = fit(train)
    result = {
        "n_train": len(train),
        "n_valid": len(valid),
        "train_rmse": round(rmse(model, train), 4),
        "val_rmse": round(rmse(model, valid), 4),
    }
    print(json.dumps(result))

    with open(config["pairs"], newline="") as src, open(config["out"], "w", newline="") as dst:
        writer = csv.writer(dst)
        writer.writerow(["pair", "stars"])
        for row in csv.DictReader(src):
            writer.writerow([row["pair"], round(predict(model, row["hiker"], row["trail"], int(row["month"])), 4)])
