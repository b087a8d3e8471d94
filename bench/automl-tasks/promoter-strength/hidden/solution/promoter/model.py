from sklearn.ensemble import HistGradientBoostingRegressor



from .features import featurize


class PromoterModel:
    def __init__(self, alpha=10.0):
        self.regressor = HistGradientBoostingRegressor(max_iter=150, max_leaf_nodes=8, random_state=0)

    def fit(self, sequences, strengths):
        self.regressor.fit(featurize(sequences), strengths)
        return self

    def predict(self, sequences):
        return self.regressor.predict(featurize(sequences))
