"""First estimate of the workshop hours of tram repairs.

    python estimate.py [--trees N] [--depth N] [--holdout SHARE]
"""

import argparse
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split


@dataclass
class Settings:
    trees: int
    depth: int
    min_leaf: int
    holdout: float
    seed: int

    @classmethod
    def from_command_line(cls) -> "Settings":
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--trees", type=int, default=150)
        parser.add_argument("--depth", type=int, default=7)
        parser.add_argument("--min-leaf", type=int, default=5)
        parser.add_argument("--holdout", type=float, default=0.2)
        parser.add_argument("--seed", type=int, default=int(os.environ.get("MLAB_SEED", "0")))
        return cls(**vars(parser.parse_args()))


class FeatureBuilder:
    """Turns the raw table of orders into numbers."""

    CATEGORIES = ("depot", "reporter", "subsystem")

    def __init__(self) -> None:
        self.codes: dict[str, dict[str, int]] = {}

    def fit(self, orders: pd.DataFrame) -> "FeatureBuilder":
        table = self._with_parts(orders)
        for name in self.CATEGORIES:
            self.codes[name] = {value: code for code, value in enumerate(sorted(table[name].unique()))}
        return self

    def transform(self, orders: pd.DataFrame) -> pd.DataFrame:
        table = self._with_parts(orders)
        features = pd.DataFrame(index=orders.index)
        for name in self.CATEGORIES:
            features[name] = table[name].map(self.codes[name]).fillna(-1)
        features["severity"] = table["severity"]
        features["mileage"] = table["mileage_km"].fillna(0)
        features["temperature"] = table["temperature"].fillna(0)
        return features

    @staticmethod
    def _with_parts(orders: pd.DataFrame) -> pd.DataFrame:
        return orders.assign(
            subsystem=orders["fault"].str[0],
            severity=orders["fault"].str[1].astype(int),
        )


class HoursEstimator:
    def __init__(self, settings: Settings) -> None:
        self.builder = FeatureBuilder()
        self.forest = RandomForestRegressor(
            n_estimators=settings.trees,
            max_depth=settings.depth,
            min_samples_leaf=settings.min_leaf,
            random_state=settings.seed,
        )

    def fit(self, orders: pd.DataFrame) -> "HoursEstimator":
        self.builder.fit(orders)
        self.forest.fit(self.builder.transform(orders), orders["hours"])
        return self

    def estimate(self, orders: pd.DataFrame) -> np.ndarray:
        return np.clip(self.forest.predict(self.builder.transform(orders)), 0, None)


def rmsle(actual: pd.Series, estimated: np.ndarray) -> float:
    return float(np.sqrt(np.mean((np.log1p(actual) - np.log1p(estimated)) ** 2)))


def main() -> None:
    settings = Settings.from_command_line()
    finished = pd.read_csv("data/orders.csv")
    to_do = pd.read_csv("data/open_orders.csv")

    fitting, holdout = train_test_split(finished, test_size=settings.holdout, random_state=settings.seed)
    estimator = HoursEstimator(settings).fit(fitting)
    error = rmsle(holdout["hours"], estimator.estimate(holdout))
    print(f"fitted {len(fitting)} orders; held out: n={len(holdout)} RMSLE={error:.4f}")

    estimator = HoursEstimator(settings).fit(finished)
    result = pd.DataFrame({"order": to_do["order"], "hours": estimator.estimate(to_do).round(3)})
    result.to_csv("estimates.csv", index=False)


if __name__ == "__main__":
    main()
