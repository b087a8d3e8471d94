"""Learns a table's target columns, measures itself on held-out rows, and writes the submission."""

import os
import re
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

SEED = int(os.environ.get("MLAB_SEED", "0"))

# What the task asks for.
TRAIN = "data/train.csv"
TEST = "data/test.csv"
SUBMISSION = "submission.csv"
ID = "id"
TARGETS = ["target"]
CLASS_COLUMNS: list[str] = []
"""Columns of the submission that hold the probability of one class each."""
WRITES_PROBABILITY = False
ROUNDS_TO_WHOLE = False
BOUNDS = [[-1e300, 1e300]]
CLASSIFIES = False
METRIC = "mae"
METRIC_NAME = "MAE"
# How it is done.
MEMBERS = ["boosting", "deep_boosting", "forest", "linear", "kernel"]
FOLDS = 5

FEW_LEVELS = 60
# Below this many rows threads wait for each other longer than they work, above all beside others.
ROWS_FOR_THREADS = 50_000
LOSSES = ("mae", "mse", "rmse", "rmsle", "mape", "smape", "log loss")

Prediction = np.ndarray
"""Regression: shape (rows, targets). Classification: probabilities, shape (rows, classes)."""


def is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def is_text(column: pd.Series) -> bool:
    """Whether a column holds sentences rather than names of things."""
    known = column.dropna().astype(str)
    return known.nunique() > len(known) / 2 and known.str.split().str.len().mean() >= 8


def parts_of(column: pd.Series) -> pd.DataFrame:
    """The parts of texts such as B/0/P or 2020-01-31, where nearly all have as many; else none."""
    known = column.dropna().astype(str)
    for mark in ("/", "_", "|", ":", "-"):
        marks = known.str.count(re.escape(mark))
        usual = marks.mode().iloc[0] if len(marks) else 0
        if 1 <= usual <= 3 and (marks == usual).mean() > 0.95:
            parts = column.astype("string").str.split(mark, regex=False, expand=True)
            parts.columns = [f"{column.name} part {place}" for place in range(parts.shape[1])]
            return parts.iloc[:, : usual + 1].apply(as_numbers)
    return pd.DataFrame(index=column.index)


def as_numbers(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers.astype(float) if numbers.notna().sum() >= 0.95 * column.notna().sum() else column


def make_features(both: pd.DataFrame) -> tuple[pd.DataFrame, list[str], pd.Series | None]:
    """
    What models are given for the rows of train and test, which columns of it are text, and which
    rows belong together by their ids.
    """
    made: dict[str, pd.Series] = {}
    texts: list[str] = []
    groups = None
    for name in both.columns:
        column = both[name]
        if is_number(column) and name != ID:
            made[name] = column.astype(float).replace([np.inf, -np.inf], np.nan)
        elif is_number(column):
            continue
        elif name != ID and is_text(column):
            known = column.fillna("").astype(str)
            texts.append(name)
            made[name] = known
            made[f"{name} characters"] = known.str.len().astype(float)
            made[f"{name} words"] = known.str.split().str.len().astype(float)
            made[f"{name} distinct words"] = known.map(lambda text: len(set(text.split()))) * 1.0
            made[f"{name} commas"] = known.str.count(",").astype(float)
        elif column.nunique() <= FEW_LEVELS and name != ID:
            made[name] = column.astype("string")
        else:
            parts = parts_of(column)
            if name == ID and parts.shape[1] > 0:
                first = parts.iloc[:, 0].astype("string")
                groups = first if 20 * FOLDS <= first.nunique() < 0.9 * len(first) else None
            for place, part in enumerate([column, *(parts[each] for each in parts)]):
                label = f"{name} part {place}"
                if part.nunique() < 0.9 * len(part):
                    made[f"{label} count"] = part.map(part.value_counts()).astype(float)
                if place > 0 and is_number(part) and (name != ID or part.nunique() <= FEW_LEVELS):
                    made[label] = part
                elif place > 0 and not is_number(part) and part.nunique() <= FEW_LEVELS:
                    made[label] = part.astype("string")
    features = pd.DataFrame(made, index=both.index)
    features = add_sums(features)
    features = features[[name for name in features if features[name].nunique(dropna=False) > 1]]
    for name in features.columns:
        if not is_number(features[name]):
            features[name] = features[name].fillna("missing").astype(object)
    return features, [name for name in texts if name in features], groups


def add_sums(features: pd.DataFrame) -> pd.DataFrame:
    """Amounts that are often nought, such as kinds of spending: their sum, and how many."""
    amounts = [
        name
        for name in features
        if is_number(features[name])
        and features[name].min() >= 0
        and (features[name] == 0).mean() >= 0.3
        and features[name].nunique() > 30
    ]
    if len(amounts) < 3:
        return features
    chosen = features[amounts]
    return features.assign(
        **{"sum": chosen.sum(axis=1), "how many": (chosen > 0).sum(axis=1) * 1.0}
    )


def squash(numbers: np.ndarray) -> np.ndarray:
    """Brings far values nearer."""
    return np.sign(numbers) * np.log1p(np.abs(numbers))


def encoded(features: pd.DataFrame, texts: list[str], way: str) -> ColumnTransformer:
    """Columns as a kind of model likes them: `raw` numbers, `filled`, or `scaled` with texts."""
    numbers = [name for name in features if is_number(features[name])]
    names = [name for name in features if name not in numbers and name not in texts]
    fill = SimpleImputer(strategy="median")
    scaled = make_pipeline(fill, FunctionTransformer(squash), StandardScaler())
    one_hot = OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist")
    by_target = TargetEncoder(random_state=SEED)
    prepared = {"raw": "passthrough", "filled": fill, "one-hot": fill, "scaled": scaled}[way]
    steps = [("numbers", prepared, numbers)]
    steps.append(("names", one_hot if way in ("one-hot", "scaled") else by_target, names))
    if way == "scaled":
        for text in texts:
            words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
            steps.append((f"words of {text}", words, text))
    return ColumnTransformer([step for step in steps if len(step[2]) > 0])


def make_member(name: str, features: pd.DataFrame, texts: list[str], loss: str) -> BaseEstimator:
    """One model of the blend, with the preparation that it needs."""
    shared = {"random_state": SEED}
    if name == "boosting":
        settings = {
            "learning_rate": 0.05,
            "max_iter": 250,
            "max_leaf_nodes": 15,
            "min_samples_leaf": 10,
            "l2_regularization": 1.0,
            "max_features": 0.5,
        }
        if CLASSIFIES:
            model = HistGradientBoostingClassifier(**settings, early_stopping=False, **shared)
        else:
            model = HistGradientBoostingRegressor(loss, **settings, early_stopping=False, **shared)
        return make_pipeline(encoded(features, texts, "raw"), model)
    if name == "deep_boosting":
        settings = {
            "learning_rate": 0.05,
            "n_estimators": 400,
            "max_depth": 4,
            "min_samples_leaf": 5,
            "subsample": 0.7,
            "max_features": 0.3,
        }
        if CLASSIFIES:
            model = GradientBoostingClassifier(**settings, **shared)
        else:
            model = GradientBoostingRegressor(loss=loss, **settings, **shared)
        return make_pipeline(encoded(features, texts, "one-hot"), model)
    if name == "forest":
        settings = {"n_estimators": 300, "min_samples_leaf": 2, "max_features": 0.4}
        trees = ExtraTreesClassifier if CLASSIFIES else ExtraTreesRegressor
        return make_pipeline(encoded(features, texts, "filled"), trees(**settings, **shared))
    if name == "linear":
        if CLASSIFIES:
            model = LogisticRegression(C=3.0 if texts else 1.0, max_iter=int(1e3))
        else:
            model = Ridge(alpha=1.0 if texts else 10.0)
        return make_pipeline(encoded(features, texts, "scaled"), model)
    # Words make thousands of small columns, for which a width of 1 / columns is far too wide.
    model = SVR(C=5.0, epsilon=0.05, gamma="scale" if texts else "auto")
    return make_pipeline(encoded(features, texts, "scaled"), model)


def takes_logarithm(truth: np.ndarray) -> bool:
    """Whether a target is learnt by its logarithm: relative errors count, or its tail is long."""
    if CLASSIFIES or truth.min() < 0 or METRIC in ("mse", "rmse", "r2"):
        return False
    return METRIC != "mae" or (truth.min() > 0 and pd.Series(truth).skew() > 0.75)


def score(truth: np.ndarray, guess: Prediction) -> float:
    """The task's metric. Over several targets: the mean of their scores."""
    if not CLASSIFIES:
        return float(np.mean([column_score(*pair) for pair in zip(truth.T, guess.T, strict=True)]))
    labels = guess.argmax(axis=1)
    if METRIC == "log loss":
        return float(log_loss(truth, guess, labels=range(guess.shape[1])))
    if METRIC == "auc":
        likely = guess[:, 1] if guess.shape[1] == 2 else guess
        return float(roc_auc_score(truth, likely, multi_class="ovr"))
    if METRIC == "f1":
        return float(f1_score(truth, labels, average="binary" if guess.shape[1] == 2 else "macro"))
    others = {"balanced accuracy": balanced_accuracy_score, "mcc": matthews_corrcoef}
    return float(others.get(METRIC, accuracy_score)(truth, labels))


def column_score(truth: np.ndarray, guess: np.ndarray) -> float:
    errors = np.abs(guess - truth)
    size = np.maximum(np.abs(truth), 1e-12)
    if METRIC == "r2":
        return r2_score(truth, guess)
    if METRIC == "rmsle":
        return np.sqrt(np.mean((np.log1p(np.maximum(guess, 0)) - np.log1p(truth)) ** 2))
    return {
        "mae": errors.mean(),
        "mse": (errors**2).mean(),
        "rmse": np.sqrt((errors**2).mean()),
        "mape": (errors / size).mean(),
        "smape": (2 * errors / np.maximum(np.abs(truth) + np.abs(guess), 1e-12)).mean(),
    }[METRIC]


def fit_and_predict(
    model: BaseEstimator,
    known: pd.DataFrame,
    truth: np.ndarray,
    asked: list[pd.DataFrame],
    classes: int,
) -> list[np.ndarray]:
    """Fits one target and predicts it for some tables."""
    if CLASSIFIES:
        fitted = clone(model).fit(known, truth)
        # A rare class may be missing from the rows of one fold.
        every = np.eye(classes)[fitted.classes_]
        return [fitted.predict_proba(table) @ every for table in asked]
    logs = takes_logarithm(truth)
    wanted = np.log1p(truth) if logs else truth
    # Kernels and ridges like a target of unit size.
    middle, size = wanted.mean(), max(wanted.std(), 1e-12)
    fitted = clone(model).fit(known, (wanted - middle) / size)
    guesses = [fitted.predict(table) * size + middle for table in asked]
    # Nothing may lie far beyond what was seen.
    spare = 0.2 * (wanted.max() - wanted.min())
    guesses = [np.clip(guess, wanted.min() - spare, wanted.max() + spare) for guess in guesses]
    return [np.expm1(guess) for guess in guesses] if logs else guesses


def cross_predict(
    name: str,
    splits: list[tuple[np.ndarray, np.ndarray]],
    tables: tuple[pd.DataFrame, pd.DataFrame, list[str]],
    truth: np.ndarray,
) -> tuple[Prediction, Prediction]:
    """What a member says of each training row when not trained on it, and of the test rows."""
    train, test, texts = tables
    wide = int(truth.max()) + 1 if CLASSIFIES else truth.shape[1]
    unseen, asked = np.zeros((len(train), wide)), np.zeros((len(test), wide))
    for target in range(1 if CLASSIFIES else wide):
        answers = truth if CLASSIFIES else truth[:, target]
        logs = takes_logarithm(answers)
        loss = "absolute_error" if METRIC == "mae" and not logs else "squared_error"
        model = make_member(name, train, texts, loss)
        columns = slice(None) if CLASSIFIES else target
        for known, held in splits:
            told = fit_and_predict(
                model, train.iloc[known], answers[known], [train.iloc[held], test], wide
            )
            unseen[held, columns] = told[0]
            asked[:, columns] += told[1] / len(splits)
    return unseen, asked


def choose_blend(truth: np.ndarray, guesses: list[Prediction]) -> np.ndarray:
    """
    Weights by greedy selection with replacement (Caruana et al. 2004): the next member is what
    makes the mean of all chosen so far score best. The best prefix counts.
    """
    sign = 1.0 if METRIC in LOSSES else -1.0
    picks, best, best_loss = np.zeros(len(guesses)), np.zeros(len(guesses)), np.inf
    for _ in range(30 if len(guesses) > 1 else 1):
        losses = []
        for place in range(len(guesses)):
            tried = picks + np.eye(len(guesses))[place]
            losses.append(sign * score(truth, np.tensordot(tried / tried.sum(), guesses, axes=1)))
        picks[int(np.argmin(losses))] += 1
        if min(losses) < best_loss:
            best, best_loss = picks / picks.sum(), min(losses)
    return best


def make_splits(
    features: pd.DataFrame, truth: np.ndarray, groups: pd.Series | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to train on and rows to measure on. Rows that belong together stay together."""
    if groups is not None and CLASSIFIES:
        splitter = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)
    elif groups is not None:
        splitter = GroupKFold(FOLDS)
    elif CLASSIFIES:
        splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    else:
        splitter = KFold(FOLDS, shuffle=True, random_state=SEED)
    return list(splitter.split(features, truth, groups))


def write_submission(ids: pd.Series, guess: Prediction, classes: list[str]) -> None:
    submission = pd.DataFrame({ID: ids})
    if CLASS_COLUMNS:
        for name in CLASS_COLUMNS:
            submission[name] = guess[:, classes.index(name)]
    elif CLASSIFIES and WRITES_PROBABILITY:
        submission[TARGETS[0]] = guess[:, 1]
    elif CLASSIFIES:
        submission[TARGETS[0]] = np.array(classes, dtype=object)[guess.argmax(axis=1)]
    else:
        for place, name in enumerate(TARGETS):
            column = np.clip(guess[:, place], *BOUNDS[place])
            submission[name] = column.round().astype(int) if ROUNDS_TO_WHOLE else column
    submission.to_csv(SUBMISSION, index=False)


def main() -> None:
    warnings.filterwarnings("ignore")
    # Ids and classes are written as they were read.
    train, test = pd.read_csv(TRAIN, dtype={ID: str}), pd.read_csv(TEST, dtype={ID: str})
    if CLASSIFIES:
        as_read = {"dtype": str, "keep_default_na": False, "na_values": [""]}
        train[TARGETS] = pd.read_csv(TRAIN, usecols=TARGETS, **as_read)
    train = train.dropna(subset=TARGETS).reset_index(drop=True)
    shared = [name for name in test.columns if name in train.columns and name not in TARGETS]
    both = pd.concat([train[shared], test[shared]], ignore_index=True)
    features, texts, groups = make_features(both)
    train_x, test_x = features.iloc[: len(train)], features.iloc[len(train) :]
    classes: list[str] = []
    if CLASSIFIES:
        classes = sorted(train[TARGETS[0]].unique())
        truth = train[TARGETS[0]].map(classes.index).to_numpy()
    else:
        truth = train[TARGETS].to_numpy(float)
    print(f"{len(train)} rows to learn from, {features.shape[1]} features, texts: {texts}")

    splits = make_splits(train_x, truth, None if groups is None else groups.iloc[: len(train)])
    tables = (train_x, test_x, texts)
    with threadpool_limits(None if len(train) >= ROWS_FOR_THREADS else 1):
        members = [cross_predict(name, splits, tables, truth) for name in MEMBERS]
    weights = choose_blend(truth, [unseen for unseen, _ in members])
    for name, (unseen, _), weight in zip(MEMBERS, members, weights, strict=True):
        print(f"{name}: {score(truth, unseen):.6g} alone, {weight:.2f} of the blend")
    blend = np.tensordot(weights, [unseen for unseen, _ in members], axes=1)
    print(f"validation {METRIC_NAME}: {score(truth, blend):.6g}")
    write_submission(
        test[ID], np.tensordot(weights, [asked for _, asked in members], axes=1), classes
    )


if __name__ == "__main__":
    main()
