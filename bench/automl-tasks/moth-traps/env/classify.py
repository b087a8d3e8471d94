#!/usr/bin/env python3
"""Predicts the species of moths from the raw pixels of their pictures."""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

DATA = Path("data")


def load_images(names):
    images = [np.asarray(Image.open(DATA / "images" / name)) for name in names]
    return np.stack(images).reshape(len(images), -1) / 255.0


def read_csv(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--C", type=float, default=0.01, help="inverse regularisation strength")
    p.add_argument("--max-iter", type=int, default=60)
    p.add_argument("--val-size", type=float, default=0.25)
    p.add_argument("--seed", type=int, default=int(os.environ.get("MLAB_SEED", "0")))
    p.add_argument("--out", default="submission.csv")
    return p.parse_args()


def main():
    args = parse_args()
    train, test = read_csv(DATA / "train.csv"), read_csv(DATA / "test.csv")
    X = load_images([r["image"] for r in train])
    y = np.array([r["species"] for r in train])

    X_fit, X_val, y_fit, y_val = train_test_split(
        X, y, test_size=args.val_size, stratify=y, random_state=args.seed
    )
    clf = LogisticRegression(C=args.C, max_iter=args.max_iter)
    clf.fit(X_fit, y_fit)
    error = np.mean(clf.predict(X_val) != y_val)
    print(f"validation error: {100 * error:.1f}%")

    predictions = clf.predict(load_images([r["image"] for r in test]))
    with open(args.out, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["image", "species"])
        for row, species in zip(test, predictions):
            writer.writerow([row["image"], species])


if __name__ == "__main__":
    main()
