from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .features import featurize


class PromoterModel:
    def __init__(self, alpha=10.0):
        self.regressor = make_pipeline(StandardScaler(), Ridge(alpha=alpha))

    def fit(self, sequences, strengths):
        self.regressor.fit(featurize(sequences), strengths)
        return self

    def predict(self, sequences):
        return self.regressor.predict(featurize(sequences))
