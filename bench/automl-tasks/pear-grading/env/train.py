import logging
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("pears")


class PearGrader:
    """Grades lots of pears from the measurements of the sorting line."""

    numeric = ["weight_g", "length_mm", "width_mm", "firmness", "sugar_brix", "hue", "russet", "spots", "bruise_cm2"]
    classes = ["extra", "first", "second", "juice"]

    def __init__(self, max_depth=5, min_samples_leaf=30, seed=0):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.seed = seed
        self.model = None

    def prepare(self, lots):
        return lots[self.numeric]

    def fit(self, lots):
        tree = DecisionTreeClassifier(
            max_depth=self.max_depth, min_samples_leaf=self.min_samples_leaf, random_state=self.seed
        )
        self.model = make_pipeline(SimpleImputer(strategy="median"), tree)
        self.model.fit(self.prepare(lots), lots["class"])
        return self

    def predict_proba(self, lots):
        raw = self.model.predict_proba(self.prepare(lots))
        order = [list(self.model.classes_).index(name) for name in self.classes]
        # no class is impossible
        return 0.98 * raw[:, order] + 0.02 / len(self.classes)

    def evaluate(self, lots):
        proba = self.predict_proba(lots)
        truth = lots["class"].map(self.classes.index)
        return {
            "accuracy": accuracy_score(truth, proba.argmax(axis=1)),
            "log loss": log_loss(truth, proba, labels=range(len(self.classes))),
        }

    def export(self, lots, path):
        path.parent.mkdir(exist_ok=True)
        proba = self.predict_proba(lots)
        out = pd.DataFrame({"lot": lots["lot"]})
        for k, name in enumerate(self.classes):
            out[f"p_{name}"] = np.round(proba[:, k], 5)
        out.to_csv(path, index=False)


if __name__ == "__main__":
    seed = int(os.environ.get("MLAB_SEED", "0"))
    lots = pd.read_csv("data/lots_graded.tsv", sep="\t")
    splitter = StratifiedShuffleSplit(n_splits=1, test_size=0.2, random_state=seed)
    fit_rows, val_rows = next(splitter.split(lots, lots["class"]))

    grader = PearGrader(seed=seed).fit(lots.iloc[fit_rows])
    result = grader.evaluate(lots.iloc[val_rows])
    log.info("%d lots for training, %d for validation", len(fit_rows), len(val_rows))
    log.info("val acc: %.1f%%  val log loss: %.4f", 100 * result["accuracy"], result["log loss"])

    grader.export(pd.read_csv("data/lots_ungraded.csv"), Path("out/probabilities.csv"))
    log.info("wrote out/probabilities.csv")
