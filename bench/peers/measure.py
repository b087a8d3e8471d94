"""Measures FLAML, AutoGluon and plain boosting on tables on which automl is measured.

Each peer fits the training table within the given seconds and predicts the test table; the task's
own grader scores it. Unlike automl, a peer is told which column is the target and what the metric
is.

    python bench/peers/measure.py PEER SECONDS [--seed N] [--mirror FOLDER] [TASK ...]

PEER is flaml, autogluon or boosting; run it with a Python that has the package. Prints a JSON line
per task: the score, and the score normalised to 0 for the starter and 1 for the reference solution.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]

TABLES = {
    # task: training table, target in it, metric
    "diabetes": ("train.csv", "progression", "rmse"),
    "ecoli": ("train.csv", "site", "balanced_accuracy"),
    "house-price": ("train.csv", "SalePrice", "mae"),
    "spaceship-titanic": ("train.csv", "Transported", "accuracy"),
    "uci-power-plant": ("train.csv", "output", "rmse"),
    "outage-minutes": ("train.csv", "minutes", "rmsle"),
    "parcel-hours": ("train.csv", "hours", "mae"),
    "parcel-outcomes": ("train.csv", "outcome", "macro_f1"),
    "refund-abuse": ("claims.csv", "abusive", "log_loss"),
    "trawler-fuel": ("trips_train.csv", "Fuel used [L]", "mae"),
}
REGRESSION = {"rmse", "mae", "rmsle"}


def flaml(known: pd.DataFrame, target: str, asked: pd.DataFrame, metric: str, options: "Options"):
    from flaml import AutoML

    names = {"rmsle": "rmse", "balanced_accuracy": "macro_f1"}
    learner = AutoML()
    learner.fit(
        known.drop(columns=target),
        known[target],
        task="regression" if metric in REGRESSION else "classification",
        metric=names.get(metric, metric),
        time_budget=options.seconds,
        seed=options.seed,
        verbose=0,
    )
    if metric == "log_loss":
        return learner.predict_proba(asked)[:, 1]
    return learner.predict(asked)


def autogluon(
    known: pd.DataFrame, target: str, asked: pd.DataFrame, metric: str, options: "Options"
):
    from autogluon.tabular import TabularPredictor

    names = {
        "rmse": "root_mean_squared_error",
        "mae": "mean_absolute_error",
        "macro_f1": "f1_macro",
    }
    names |= {"rmsle": "root_mean_squared_error"}
    with tempfile.TemporaryDirectory() as folder:
        learner = TabularPredictor(
            target, eval_metric=names.get(metric, metric), path=folder, verbosity=0
        )
        learner.fit(known, time_limit=options.seconds, presets="medium_quality")
        if metric == "log_loss":
            return learner.predict_proba(asked).iloc[:, 1].to_numpy()
        return learner.predict(asked).to_numpy()


def boosting(
    known: pd.DataFrame, target: str, asked: pd.DataFrame, metric: str, options: "Options"
):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if metric in REGRESSION else HistGradientBoostingClassifier
    learner = kind(categorical_features="from_dtype", random_state=options.seed)
    learner.fit(known.drop(columns=target), known[target])
    if metric == "log_loss":
        return learner.predict_proba(asked)[:, 1]
    return learner.predict(asked)


PEERS = {"flaml": flaml, "autogluon": autogluon, "boosting": boosting}


class Options(argparse.Namespace):
    peer: str
    seconds: float
    seed: int
    tasks: list[str]
    preparing: list[str]


def mlab(*arguments: str) -> dict:
    command = [
        str(ROOT / "node_modules/.bin/node"),
        str(ROOT / "bin/mlab.mjs"),
        *arguments,
        "--json",
    ]
    found = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(found.stdout)


def with_categories(tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Texts become categories that both tables share, rare ones one of their own."""
    both = pd.concat(tables, keys=range(len(tables)))
    for name in both.columns:
        if not pd.api.types.is_numeric_dtype(both[name]):
            texts = both[name].astype("string").fillna("")
            frequent = texts.value_counts().index[:200]
            both[name] = texts.where(texts.isin(frequent), "other").astype("category")
    return [both.loc[place] for place in range(len(tables))]


def measure(task: str, options: Options) -> dict:
    folder = ROOT / "bench/automl-tasks" / task
    place = str(folder) if folder.is_dir() else task
    declared = mlab("tasks", "show", place)
    prepared = mlab("prepare", place, *options.preparing)["prepared"][0]
    public = Path(prepared["publicFolder"])
    file = declared["submission"]["files"][0]
    training, target, metric = TABLES[task]
    known = pd.read_csv(public / training).dropna(subset=[target], ignore_index=True)
    asked = pd.read_csv(public / file["id"]["from"])
    ids = asked[file["id"]["column"]]
    features = [name for name in asked.columns if name != file["id"]["column"]]
    plain = dict(zip(features, map("x{}".format, range(len(features))), strict=True))
    inputs, questions = (
        each.rename(columns=plain) for each in with_categories([known[features], asked[features]])
    )
    answers = np.log1p(known[target]) if metric == "rmsle" else known[target]
    began = perf_counter()
    guesses = PEERS[options.peer](
        inputs.assign(**{target: answers}), target, questions, metric, options
    )
    seconds = perf_counter() - began
    guesses = np.expm1(guesses) if metric == "rmsle" else guesses
    if metric in REGRESSION and known[target].min() >= 0:
        guesses = np.maximum(guesses, 0)
    with tempfile.TemporaryDirectory() as work:
        submission = Path(work) / "submissions/peer" / file["path"]
        submission.parent.mkdir(parents=True)
        column = file["columns"][0]["name"]
        answer = pd.DataFrame({file["id"]["column"]: ids, column: guesses})
        answer.to_csv(submission, index=False)
        shown = {key: declared[key] for key in ("metric", "submission")}
        (Path(work) / "task.json").write_text(json.dumps(shown))
        arguments = ["--task", "task.json", "--submissions", "submissions"]
        arguments += ["--public", str(public), "--private", prepared["privateFolder"]]
        graded = subprocess.run(
            [
                prepared["python"]["executable"],
                "-I",
                f"{declared['folder']}/hidden/grade.py",
                *arguments,
            ],
            cwd=work,
            env={**os.environ, "MLAB_HELPERS": str(ROOT / "python")},
            check=True,
            capture_output=True,
            text=True,
        )
    result = json.loads(graded.stdout.splitlines()[-1])["result"]
    baseline, reference = (declared[part]["mean"] for part in ("baseline", "reference"))
    normalised = (result["score"] - baseline) / (reference - baseline) if result["valid"] else 0.0
    return {
        "task": task,
        "peer": options.peer,
        "seed": options.seed,
        "score": result["score"],
        "normalised": round(normalised, 4),
        "seconds": round(seconds, 1),
        "problems": result["problems"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("seconds", type=float)
    parser.add_argument("tasks", nargs="*", default=list(TABLES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mirror", help="a folder with source files, for tasks with downloads")
    options = parser.parse_args(namespace=Options())
    mirror = ["--mirror", options.mirror] if options.mirror else []
    options.preparing = [*mirror, "--allow-unverified"]
    for task in options.tasks:
        print(json.dumps(measure(task, options)), flush=True)


if __name__ == "__main__":
    main()
