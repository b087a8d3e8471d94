"""The models that are blended."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
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
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR

from automl.data import Views
from automl.settings import CLASSIFIES, MANY_CLASSES, SEED

Table = np.ndarray


def make_member(name: str, views: Views, loss: str) -> tuple[BaseEstimator, Table] | None:
    """A model and the view that it learns from; none where it does not suit the data."""
    shared = {"random_state": SEED}
    if name == "boosting":
        settings = {
            "learning_rate": 0.1 if MANY_CLASSES else 0.05,
            "max_iter": 100 if MANY_CLASSES else 250,
            "max_leaf_nodes": 15,
            "min_samples_leaf": 10,
            "l2_regularization": 1.0,
            "max_features": 0.5,
            "early_stopping": False,
        }
        if CLASSIFIES:
            model = HistGradientBoostingClassifier(**settings, **shared)
        else:
            model = HistGradientBoostingRegressor(loss=loss, **settings, **shared)
        return make_pipeline(by_target(views), model), views.gaps
    if name == "deep_boosting":
        settings = {
            "learning_rate": 0.1 if MANY_CLASSES else 0.05,
            "n_estimators": 150 if MANY_CLASSES else 400,
            "max_depth": 4,
            "min_samples_leaf": 5,
            "subsample": 0.7,
            "max_features": 0.3,
        }
        if CLASSIFIES:
            return GradientBoostingClassifier(**settings, **shared), views.full
        return GradientBoostingRegressor(loss=loss, **settings, **shared), views.full
    if name == "forest":
        few = views.full.shape[1] <= 300
        settings = {"n_estimators": 300, "min_samples_leaf": 2, "n_jobs": 2}
        settings["max_features"] = 0.4 if few else "sqrt"
        trees = ExtraTreesClassifier if CLASSIFIES else ExtraTreesRegressor
        return trees(**settings, **shared), views.full
    if name == "linear" and CLASSIFIES:
        return LogisticRegression(C=1.0 if is_dense(views) else 3.0, max_iter=500), views.scaled
    if name == "linear":
        # Without words it is cheap to find out how much to shrink.
        return RidgeCV(np.geomspace(0.1, 1e3, 13)) if is_dense(views) else Ridge(1.0), views.scaled
    if name == "kernel":
        return reduced(make_kernel(), views), views.scaled
    if name == "ratios":
        steps = (Ratios(), LogisticRegression(C=1.0, max_iter=500))
        return None if is_dense(views) else (make_pipeline(*steps), views.scaled)
    return make_dense_member(name, views)


def make_kernel() -> BaseEstimator:
    if CLASSIFIES:
        return CalibratedClassifierCV(SVC(C=5.0, random_state=SEED), cv=3, ensemble=False)
    return SVR(C=5.0, epsilon=0.05)


def reduced(model: BaseEstimator, views: Views) -> BaseEstimator:
    """A model that is slow with hundreds of columns, on their main directions."""
    if not is_dense(views) or views.scaled.shape[1] <= 200:
        return model
    return make_pipeline(PCA(100, random_state=SEED), model)


def is_dense(views: Views) -> bool:
    return isinstance(views.scaled, np.ndarray)


def make_dense_member(name: str, views: Views) -> tuple[BaseEstimator, Table] | None:
    """Models for a few columns of plain numbers."""
    if name == "powers":
        return None if CLASSIFIES or views.positive is None else (Powers(), views.positive)
    columns = views.scaled.shape[1]
    if not is_dense(views) or columns == 0:
        return None
    if name == "network":
        settings = {"alpha": 1e-3, "early_stopping": True, "n_iter_no_change": 8, "max_iter": 80}
        layers = {"hidden_layer_sizes": (128, 64), "learning_rate_init": 2e-3, "random_state": SEED}
        layered = MLPClassifier if CLASSIFIES else MLPRegressor
        return reduced(layered(**settings, **layers), views), views.scaled
    if name == "neighbours":
        nearest = KNeighborsClassifier if CLASSIFIES else KNeighborsRegressor
        return reduced(nearest(n_neighbors=10, weights="distance"), views), views.scaled
    if name == "process" and columns <= 30 and not CLASSIFIES:
        kernel = ConstantKernel(1.0, (0.01, 1e4)) * RBF(np.full(columns, 3.0), (0.05, 1e3))
        noisy = kernel + WhiteKernel(0.1, (1e-8, 10))
        return GaussianProcessRegressor(noisy, random_state=SEED), views.scaled
    if name == "polynomial" and columns <= 30 and not CLASSIFIES:
        powers = PolynomialFeatures(3 if columns <= 12 else 2, include_bias=False)
        steps = (
            powers,
            VarianceThreshold(),
            StandardScaler(),
            RidgeCV(np.geomspace(1e-4, 1e3, 15)),
        )
        return make_pipeline(*steps), views.scaled
    return None


def by_target(views: Views) -> ColumnTransformer:
    """Names as the mean target of their rows, found without the row itself."""
    encoder = TargetEncoder(random_state=SEED)
    return ColumnTransformer([("names", encoder, views.name_columns)], remainder="passthrough")


class Powers(RegressorMixin, BaseEstimator):
    """Products of powers of the columns, as many laws of nature are: a line in the logarithms."""

    def fit(self, table: np.ndarray, truth: np.ndarray) -> "Powers":
        line = RidgeCV(np.geomspace(1e-6, 1e2, 9))
        curves = PolynomialFeatures(2, include_bias=False)
        self.model_ = make_pipeline(StandardScaler(), curves, StandardScaler(), line)
        self.model_.fit(np.log(table), truth)
        return self

    def predict(self, table: np.ndarray) -> np.ndarray:
        return self.model_.predict(np.log(table))


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
