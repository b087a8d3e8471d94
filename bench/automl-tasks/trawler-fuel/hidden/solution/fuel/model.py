import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor


def gear_of(text):
    text = text.lower()
    for word, gear in (("b", 0), ("ot", 1), ("net", 2), ("l", 3)):
        if text.startswith(word) or (word == "net" and word in text):
            return gear
    return 4


class FuelModel:
    """Boosting of litres per kilowatt, on a logarithmic scale, of columns put right."""

    def __init__(self, **settings):
        self.models = [
            HistGradientBoostingRegressor(
                loss="absolute_error", learning_rate=0.05, max_iter=400, max_leaf_nodes=15, random_state=seed
            )
            for seed in range(2)
        ]

    def _matrix(self, trips):
        X = trips[["Length o.a. (m)", "Engine (kW)", "Steaming (nm)", "Hull cleaned", "Crew"]].copy()
        hours = trips["Trip (h)"]
        X["hours"] = hours.where(hours < 160, hours / 60)
        X["wind"] = trips["Wind (kn)"].replace(-99, np.nan)
        X["gear"] = trips["Gear"].map(gear_of)
        X["ground"] = trips["Ground"].map({g: i for i, g in enumerate(self.grounds)})
        X["catch rate"] = np.log1p(trips["Catch (kg)"] / X["hours"])
        X["boat"] = trips["Boat"].map(self.boats)
        return X

    def fit(self, trips, litres):
        self.grounds = sorted(trips["Ground"].unique())
        rate = np.log(litres.clip(lower=1) / trips["Engine (kW)"])
        self.boats = {}
        self.boats = (rate - rate.mean()).groupby(trips["Boat"]).median().to_dict()
        X = self._matrix(trips)
        for model in self.models:
            model.fit(X, rate)
        off = np.abs(rate - self.models[0].predict(X)) > 1
        for model in self.models:
            model.fit(X[~off], rate[~off])
        return self

    def predict(self, trips):
        X = self._matrix(trips)
        return np.exp(np.mean([m.predict(X) for m in self.models], axis=0)) * trips["Engine (kW)"].to_numpy()
