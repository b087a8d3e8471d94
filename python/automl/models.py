"""The models that are blended."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR

from automl.data import Views
from automl.settings import CLASSIFIES, MANY_CLASSES, SEED

Table = np.ndarray
Loss = str | float
"""Its name; or the quantile that is to be predicted."""
MOST_LEVELS = 250
"""Of names that trees can split as such."""


def make_member(name: str, views: Views, loss: Loss) -> tuple[BaseEstimator, Table] | None:
    """A model and the view that it learns from; none where it does not suit the data."""
    is_dense, columns = isinstance(views.scaled, np.ndarray), views.scaled.shape[1]
    suits = {
        "ratios": not is_dense,
        "pieces": views.words is not None,
        "powers": views.full.size > 0 and views.full.min() > 0,
        "network": is_dense and columns > 0,
        "polynomial": is_dense and 0 < columns <= 30,
    }
    if not suits.get(name, True):
        return None
    if name == "boosting":
        return boosting(views, loss), views.gaps
    if name == "large_boosting":
        return large_boosting(views, loss), views.gaps
    if name == "deep_boosting":
        return deep_boosting(loss), views.full
    if name == "forest":
        return forest(views.full.shape[1]), views.full
    if name == "powers":
        return powers(), views.full
    if name == "pieces":
        # There are more of them than rows, and most say nothing.
        return LogisticRegression(C=0.05, max_iter=500) if CLASSIFIES else Ridge(30.0), views.words
    model = model_of_scaled(name, is_dense, columns)
    if name in ("kernel", "network") and is_dense and columns > 200:
        # They are slow with hundreds of columns.
        model = make_pipeline(PCA(100, random_state=SEED), model)
    return model, views.scaled


def boosting(views: Views, loss: Loss) -> BaseEstimator:
    trees = histogram(
        loss,
        learning_rate=0.1 if MANY_CLASSES else 0.05,
        max_iter=100 if MANY_CLASSES else 250,
        max_leaf_nodes=15,
        min_samples_leaf=10,
        l2_regularization=1.0,
        max_features=0.5,
    )
    # Names become the mean target of their rows, found without the row itself.
    names = ("names", TargetEncoder(random_state=SEED), views.name_columns)
    return make_pipeline(ColumnTransformer([names], remainder="passthrough"), trees)


def large_boosting(views: Views, loss: Loss) -> BaseEstimator:
    """For many rows: larger trees, more of them, that split names as such where they are few."""
    levels = views.gaps[:, views.name_columns].max(axis=0, initial=0)
    names = list(np.array(views.name_columns, int)[levels < MOST_LEVELS])
    return histogram(loss, learning_rate=0.1, max_iter=500, categorical_features=names)


def histogram(loss: Loss, **settings: Any) -> BaseEstimator:
    settings |= {"early_stopping": False, "random_state": SEED}
    if CLASSIFIES:
        return HistGradientBoostingClassifier(**settings)
    if isinstance(loss, float):
        return HistGradientBoostingRegressor(loss="quantile", quantile=loss, **settings)
    return HistGradientBoostingRegressor(loss=loss, **settings)


def deep_boosting(loss: Loss) -> BaseEstimator:
    settings = {
        "learning_rate": 0.1 if MANY_CLASSES else 0.05,
        "n_estimators": 150 if MANY_CLASSES else 400,
        "max_depth": 4,
        "min_samples_leaf": 5,
        "subsample": 0.7,
        "max_features": 0.3,
        "random_state": SEED,
    }
    if CLASSIFIES:
        return GradientBoostingClassifier(**settings)
    if isinstance(loss, float):
        return GradientBoostingRegressor(loss="quantile", alpha=loss, **settings)
    return GradientBoostingRegressor(loss=loss, **settings)


def forest(columns: int) -> BaseEstimator:
    share = 0.4 if columns <= 300 else "sqrt"
    trees = ExtraTreesClassifier if CLASSIFIES else ExtraTreesRegressor
    return trees(300, min_samples_leaf=2, max_features=share, n_jobs=2, random_state=SEED)


def model_of_scaled(name: str, is_dense: bool, columns: int) -> BaseEstimator:
    if name == "linear" and CLASSIFIES:
        # Hundreds of dense columns, as of pictures, say much the same.
        shrunk = 0.03 if columns > 200 else 1.0
        return LogisticRegression(C=shrunk if is_dense else 3.0, max_iter=500)
    if name == "linear":
        # Without words it is cheap to find out how much to shrink.
        return RidgeCV(np.geomspace(0.1, 1e3, 13)) if is_dense else Ridge(1.0)
    if name == "ratios":
        return make_pipeline(Ratios(), LogisticRegression(C=1.0, max_iter=500))
    if name == "kernel" and CLASSIFIES:
        return CalibratedClassifierCV(SVC(C=5.0, random_state=SEED), cv=3, ensemble=False)
    if name == "kernel":
        return SVR(C=5.0, epsilon=0.05)
    if name == "network":
        settings = {"alpha": 1e-3, "early_stopping": True, "n_iter_no_change": 8, "max_iter": 80}
        layers = {"hidden_layer_sizes": (128, 64), "learning_rate_init": 2e-3, "random_state": SEED}
        return (MLPClassifier if CLASSIFIES else MLPRegressor)(**settings, **layers)
    products = PolynomialFeatures(3 if columns <= 12 else 2, include_bias=False)
    line = RidgeCV(np.geomspace(1e-4, 1e3, 15))
    return make_pipeline(products, VarianceThreshold(), StandardScaler(), line)


def powers() -> BaseEstimator:
    """Products of powers of the columns, as many laws of nature are: a line in the logarithms."""
    line = RidgeCV(np.geomspace(1e-6, 1e2, 9))
    curves = (StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler())
    return make_pipeline(FunctionTransformer(np.log), *curves, line)


class Ratios(TransformerMixin, BaseEstimator):
    """Weighs words by how much likelier they are in one class (Wang and Manning 2012)."""

    def fit(self, table: np.ndarray, truth: np.ndarray) -> "Ratios":
        seen = abs(table)
        sums = np.vstack([np.asarray(seen[truth == each].sum(axis=0)) + 1 for each in (0, 1)])
        shares = sums / sums.sum(axis=1, keepdims=True)
        self.ratios_ = np.log(shares[1] / shares[0])
        return self

    def transform(self, table: np.ndarray) -> np.ndarray:
        return table.multiply(self.ratios_).tocsr()
