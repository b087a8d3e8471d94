"""Predict flash points from SMILES strings.

Usage: python train.py [--ngram 2] [--alpha 3.0] [--features 300]
"""
import argparse
import logging
import os

import pandas as pd

from featurize import SmilesVectorizer
from model import build_model, cross_validate

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("flash")


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--train", default="data/compounds_train.csv")
    p.add_argument("--test", default="data/compounds_test.csv")
    p.add_argument("--output", default="predictions/flash.csv")
    p.add_argument("--ngram", type=int, default=3, help="longest run of characters that is counted")
    p.add_argument("--features", type=int, default=250, help="keep the most frequent n-grams")
    p.add_argument("--alpha", type=float, default=3.0, help="ridge penalty")
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--seed", type=int, default=int(os.environ.get("MLAB_SEED", "0")))
    return p.parse_args()


def main():
    args = parse_args()
    train = pd.read_csv(args.train)
    test = pd.read_csv(args.test)
    log.info("%d training compounds, %d to predict", len(train), len(test))

    vec = SmilesVectorizer(args.ngram, args.features).fit(train.smiles)
    X, y = vec.transform(train.smiles), train.flash_point_c.to_numpy()

    rmse = cross_validate(lambda: build_model(args.alpha), X, y, args.folds, args.seed)
    log.info("RMSE = %.3f (%d-fold cross-validation)", rmse, args.folds)

    model = build_model(args.alpha).fit(X, y)
    out = pd.DataFrame({"compound": test["compound"], "predicted": model.predict(vec.transform(test.smiles))})
    os.makedirs(os.path.dirname(args.output), exist_ok=True)
    out.to_csv(args.output, index=False)
    log.info("wrote %s", args.output)


if __name__ == "__main__":
    main()
