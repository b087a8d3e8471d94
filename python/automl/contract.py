"""Prints what a model has to learn and the script that learns it, or why there can be none."""

import json
import re
import sys
from typing import Any

from automl.answers import (
    ASKED,
    ID,
    LIKE,
    METRIC,
    NAMES,
    RANKED,
    TEST,
    TEXTS,
    TOLD,
    NoModelError,
    Source,
    classes_of,
    quantiles_in,
)
from automl.formats import PLAIN_PICTURE_ENDINGS
from automl.look import Column, packages
from automl.portfolio import choose_members, choose_parts, rows_read
from automl.sources import find_data

# What the task asks for.
SUBMISSION = "submission.csv"
METRIC_NAME = "MAE"
IN_PERCENT = False
EPOCHS = 0
"""How often a model may see a row at most; 0 if the task sets no limit."""
# What the script that learns must know of the task besides.
VALUES: list[str] = []
POSITIVE: list[str] = []

EVERY_SCRIPT = ("settings", "cells", "data", "formats", "scores")
"""Files like this one, in an order in which each has what it needs."""
MOST_CLASSES = 100
"""Targets with more different values are not classes."""
SQUARED = re.compile("squar|rms|varian|devian")
"""In names of metrics that are about squares of errors, or nearly so."""
OF_NUMBERS = (
    *("mae", "mse", "rmse", "msle", "rmsle", "mape", "smape", "wape", "r2", "pearson", "spearman"),
    *("rmspe", "median absolute error", "pinball"),
)
OF_CLASSES = (
    *("accuracy", "balanced accuracy", "error rate", "balanced error"),
    *("auc", "gini", "average precision", "log loss", "brier"),
    *("kappa", "quadratic weighted kappa", "matthews correlation"),
)
F_BETA = re.compile(r"(?:macro |micro |weighted |samples )?f\d(?:\.\d+)?")
SAME_FOR_COLUMNS = {"mcrmse": "rmse", "map": "average precision"}
"""Means over columns of other metrics."""
OF_LABELS = ("auc", "average precision", "brier", "balanced accuracy", "matthews correlation")
"""Of several columns that are 1 or 0; and all F scores, also micro-averaged ones."""
OF_PROBABILITIES = ("auc", "gini", "average precision", "log loss", "brier")
"""If there is one column to predict, it contains a probability."""
SHARES = (
    *("mape", "rmspe", "smape", "wape", "r2", "auc"),
    *("accuracy", "balanced accuracy", "error rate", "balanced error"),
)
"""Metrics that are not in the unit of the target."""


def print_contract() -> None:
    try:
        found = find_contract()
    except NoModelError as problem:
        found = {"problem": str(problem)}
    sys.stdout.write(f"CONTRACT {json.dumps(found)}\n")


def find_contract() -> dict[str, Any]:
    there = packages()
    if "numpy" not in there:
        raise NoModelError("numpy cannot be imported")
    test, source = find_data()
    if LIKE.endswith(".npy") and test != TEST:
        raise NoModelError(f"the order of {test} is not that of {TEST}")
    needs_pil = source.are_pictures and source.ending not in ("", *PLAIN_PICTURE_ENDINGS)
    if needs_pil and "PIL" not in there:
        raise NoModelError("PIL cannot be imported")
    labels = are_labels(source.targets)
    metric = SAME_FOR_COLUMNS.get(METRIC, METRIC)
    # Of one class for each row, all micro-averaged F scores are the share of right ones.
    if metric.startswith("micro ") and not labels:
        metric = "accuracy"
    is_measured = metric in (*OF_NUMBERS, *OF_CLASSES) or F_BETA.fullmatch(metric) is not None
    quantiles = quantiles_in(NAMES) or (TOLD * len(NAMES) if len(TOLD) == 1 else [])
    is_measured &= metric != "pinball" or len(quantiles) > 0
    is_measured &= not labels or metric not in OF_CLASSES or metric in OF_LABELS
    classes = 0 if labels else count_classes(source, metric)
    if not is_measured:
        is_asked = {each.name for each in source.targets} <= set(NAMES)
        if RANKED.search(METRIC) and not (is_asked or classes):
            raise NoModelError(f"{source.targets[0].name} need not be what is to be ranked by")
        metric = stand_in(source, classes)
        classes = classes or (2 if metric == "auc" else 0)
    parts, reads = choose_parts(source, there)
    models, members = "models", choose_members(source, classes, EPOCHS == 0)
    if metric == "pinball":
        members = [name for name in members if name.endswith("boosting")]
    if "sklearn" not in there:
        models, members = "plain_models", ["boosting", "linear"]
    reads = f"learn(as_numbers(*{reads}))" if rows_read(source) else f"learn({reads})"
    is_share = metric in SHARES or F_BETA.fullmatch(metric) is not None
    return {
        "parts": [*EVERY_SCRIPT, models, "blend", *parts],
        "reads": reads,
        "members": members,
        "kind": source.kind,
        "plan": plan(test, source, classes, metric, is_measured),
        "is_measured": is_measured,
        "settings": {
            **source.settings,
            **submission_settings(source, classes, metric),
            **({"ARE_LABELS": True} if labels and metric not in OF_NUMBERS else {}),
            "TEST": test,
            "METRIC": metric,
            **({"QUANTILES": quantiles} if metric == "pinball" else {}),
            # Another measure must not be taken for the task's.
            "METRIC_NAME": METRIC_NAME if is_measured else f"{metric} instead",
            "UNIT": 100 if IN_PERCENT and is_measured and is_share else 1,
        },
    }


def stand_in(source: Source, classes: int) -> str:
    """What to choose by where the task's own metric cannot be computed."""
    if classes:
        return "accuracy"
    is_ranked = len(source.targets) == 1 and source.targets[0].distinct == 2
    return "auc" if is_ranked else "rmse" if SQUARED.search(METRIC) else "mae"


def are_labels(columns: list[Column]) -> bool:
    """Whether several things hold, or do not: all columns have 0 and 1 alone."""
    return len(columns) > 1 and all(
        each.numeric and 0 < len(each.values) <= 2 and {*map(float, each.values)} <= {0, 1}
        for each in columns
    )


def count_classes(source: Source, metric: str) -> int:
    """How many there are; 0 for numbers."""
    columns = source.targets
    has_names = source.by_class or ASKED[0][1] == "text" or not all(c.numeric for c in columns)
    if metric in OF_CLASSES or F_BETA.fullmatch(metric) or (has_names and metric not in OF_NUMBERS):
        check_classes(columns)
        return columns[0].distinct
    for column in columns:
        if not column.numeric:
            raise NoModelError(f"{column.name} should be a number and is none")
    return 0


def check_classes(columns: list[Column]) -> None:
    if len(columns) > 1:
        raise NoModelError("more than one column of classes is asked for")
    target = columns[0]
    if not 2 <= target.distinct <= MOST_CLASSES:
        raise NoModelError(f"{target.name} has {target.distinct} different values, not classes")
    for value in target.values if VALUES else ():
        if value not in VALUES:
            raise NoModelError(
                f"{target.name} has the value {value}, which the submission may not have"
            )


def submission_settings(source: Source, classes: int, metric: str) -> dict[str, Any]:
    columns_of = classes_of(NAMES, source.targets[0].values) if source.by_class else []
    is_number = ASKED[0][1] == "number" and not columns_of
    known = SAME_FOR_COLUMNS.get(METRIC, METRIC)
    are_decided = are_labels(source.targets) and known not in (*OF_NUMBERS, *OF_PROBABILITIES)
    return {
        "ID": ID,
        "SUBMISSION": SUBMISSION,
        "TARGETS": [column.name for column in source.targets],
        "COLUMNS": NAMES,
        "CLASS_COLUMNS": list(zip(NAMES, columns_of, strict=False)),
        "CLASSIFIES": classes > 0,
        "MANY_CLASSES": classes > 2,
        "WRITES_PROBABILITY": classes > 0 and is_number and metric in OF_PROBABILITIES,
        "VALUES": VALUES,
        "POSITIVE": POSITIVE,
        "ROUNDS_TO_WHOLE": [name for name, kind, *_ in ASKED if kind == "integer" or are_decided],
        "BOUNDS": [[least, most] for _, _, least, most, _ in ASKED],
        **({"TEXTS": TEXTS} if TEXTS else {}),
    }


def plan(test: str, source: Source, classes: int, metric: str, is_measured: bool) -> str:
    """For people."""
    targets = ", ".join(column.name for column in source.targets)
    labels = "labels" if are_labels(source.targets) else "numbers"
    learns = f"Learn {targets} ({'classes' if classes else labels}) from {source.rows} rows"
    why = "" if is_measured else ", since I cannot compute the task's own metric"
    limit = f"; see no row more than {EPOCHS} times" if EPOCHS else ""
    return f"{learns} of {source.place}, for {ID} of {test}; choose by {metric}{why}{limit}."
