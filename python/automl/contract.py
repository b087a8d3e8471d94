"""Prints what a model has to learn and the script that learns it, or why there can be none."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from automl.look import Column, find_tables, packages
from automl.portfolio import NoModelError, choose_portfolio
from automl.sources import (
    Answers,
    Asked,
    Source,
    classes_of,
    find_source,
    rows_to_predict,
    split_by_ids,
)

# What the task asks for.
TEST = "data/test.csv"
SUBMISSION = "submission.csv"
ID = "id"
ASKED: list[list[Any]] = [["target", "number", -1e300, 1e300, []]]
"""The columns of the submission: name, type, least and greatest value, and values if listed."""
METRIC = "mae"
"""As in metric-names.ts."""
METRIC_NAME = "MAE"
IN_PERCENT = False
EPOCHS = 0
"""How often a model may see a row at most; 0 if the task sets no limit."""

MOST_CLASSES = 100
"""Targets with more different values are not classes."""
OF_NUMBERS = (
    *("mae", "mse", "rmse", "msle", "rmsle", "mape", "smape", "wape", "r2", "pearson", "spearman"),
    *("rmspe", "median absolute error"),
)
OF_CLASSES = (
    *("accuracy", "balanced accuracy", "error rate", "f1", "macro f1", "weighted f1"),
    *("auc", "gini", "average precision", "log loss", "brier"),
    *("kappa", "quadratic weighted kappa", "matthews correlation"),
)
OF_PROBABILITIES = ("auc", "gini", "average precision", "log loss", "brier")
"""If there is one column to predict, it contains a probability."""
SHARES = (
    *("mape", "rmspe", "smape", "wape", "r2", "auc"),
    *("accuracy", "balanced accuracy", "error rate", "f1", "macro f1", "weighted f1"),
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
    if source.kind == "files" and source.are_pictures and "PIL" not in there:
        raise NoModelError("PIL cannot be imported")
    metric = {"mcrmse": "rmse", "micro f1": "accuracy"}.get(METRIC, METRIC)
    is_measured = metric in (*OF_NUMBERS, *OF_CLASSES)
    classes = count_classes(source.answers, metric)
    if not is_measured:
        metric = "accuracy" if classes else "mae"
    portfolio = choose_portfolio(source, classes, there, EPOCHS)
    return asdict(portfolio) | {
        "kind": source.kind,
        "plan": plan(test, source, classes, metric, is_measured),
        "is_measured": is_measured,
        "settings": {
            **source.settings,
            **portfolio.settings,
            **submission_settings(source.answers, classes, metric),
            "TEST": test,
            "METRIC": metric,
            # Another measure must not be taken for the task's.
            "METRIC_NAME": METRIC_NAME if is_measured else f"{metric} instead",
            "UNIT": 100 if IN_PERCENT and is_measured and metric in SHARES else 1,
        },
    }


def find_data() -> tuple[str, Source]:
    """The path of the rows to predict, and what is to be learned from."""
    names = [name for name, *_ in ASKED]
    if not Path(TEST).is_file():
        raise NoModelError(f"{TEST} does not list the ids")
    tables = find_tables()
    test = rows_to_predict(Path(TEST), ID, names, tables)
    if ID not in test.cells:
        raise NoModelError(f"{TEST} does not list the ids")
    others = [table for table in tables if table.path != test.path]
    source = find_source(Asked(test, ID, names), others)
    split = split_by_ids(Path(TEST), ID, names, tables) if list(test.cells) == [ID] else None
    if source is None and split is not None:
        test, others = split
        source = find_source(Asked(test, ID, names), others)
        if source is not None and source.kind == "table":
            source.settings["TEST_IDS"] = TEST
        else:
            source = None
    if source is None:
        raise NoModelError(
            "nothing in the data folder has the asked columns beside what the rows to predict have"
        )
    return test.path.as_posix(), source


def count_classes(answers: Answers, metric: str) -> int:
    """How many there are; 0 for numbers."""
    columns = answers.columns
    has_names = answers.by_class or ASKED[0][1] == "text" or not all(c.numeric for c in columns)
    if metric in OF_CLASSES or (has_names and metric not in OF_NUMBERS):
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
    for name, _, _, _, allowed in ASKED:
        for value in target.values if name == target.name and allowed else ():
            if value not in allowed:
                raise NoModelError(
                    f"{name} has the value {value}, which the submission may not have"
                )


def submission_settings(answers: Answers, classes: int, metric: str) -> dict[str, Any]:
    names = [name for name, *_ in ASKED]
    values = answers.columns[0].values
    columns_of = classes_of(names, values) if answers.by_class else []
    is_number = ASKED[0][1] == "number" and not columns_of
    return {
        "ID": ID,
        "SUBMISSION": SUBMISSION,
        "TARGETS": [column.name for column in answers.columns],
        "COLUMNS": names,
        "CLASS_COLUMNS": list(zip(names, columns_of, strict=False)),
        "CLASSIFIES": classes > 0,
        "MANY_CLASSES": classes > 2,
        "WRITES_PROBABILITY": classes > 0 and is_number and metric in OF_PROBABILITIES,
        "ROUNDS_TO_WHOLE": [name for name, kind, *_ in ASKED if kind == "integer"],
        "BOUNDS": [[least, most] for _, _, least, most, _ in ASKED],
    }


def plan(test: str, source: Source, classes: int, metric: str, is_measured: bool) -> str:
    """For people."""
    targets = ", ".join(column.name for column in source.answers.columns)
    learns = f"Learn {targets} ({'classes' if classes else 'numbers'}) from {source.rows} rows"
    why = "" if is_measured else ", since I cannot compute the task's own metric"
    limit = f"; see no row more than {EPOCHS} times" if EPOCHS else ""
    return f"{learns} of {source.place}, for {ID} of {test}; choose by {metric}{why}{limit}."
