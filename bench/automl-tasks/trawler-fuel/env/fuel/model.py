from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler


class FuelModel:
    """Fuel of a trip by ridge regression."""

    def __init__(self, columns, fill="mean", ridge_alpha=1.0):
        self.columns = columns
        self.imputer = SimpleImputer(strategy=fill)
        self.scaler = StandardScaler()
        self.ridge = Ridge(alpha=ridge_alpha)

    def _matrix(self, trips, fit=False):
        values = trips[self.columns]
        if fit:
            return self.scaler.fit_transform(self.imputer.fit_transform(values))
        return self.scaler.transform(self.imputer.transform(values))

    def fit(self, trips, litres):
        self.ridge.fit(self._matrix(trips, fit=True), litres)
        return self

    def predict(self, trips):
        return self.ridge.predict(self._matrix(trips))
