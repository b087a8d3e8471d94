"""Measures models on rows that they have not seen and blends them."""

import contextlib
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from automl.data import Data, Views, make_views, write_submission
from automl.models import Loss, Table, make_member
from automl.scores import (
    ABSOLUTE,
    RELATIVE,
    Prediction,
    balance,
    loss_of,
    reachable_loss,
    score,
)
from automl.settings import (
    CLASSIFIES,
    MEMBERS,
    METRIC,
    METRIC_NAME,
    QUANTILES,
    SECONDS,
    SEED,
    UNIT,
    seconds_left,
)

Split = tuple[np.ndarray, np.ndarray]
"""Rows to train on, rows to measure on."""

# Below this many rows threads wait for each other longer than they work, above all beside others.
ROWS_FOR_THREADS = 50_000
SPARE = 2
"""Seconds that a model may take beyond the time for all."""
UNFIT = (ValueError, ArithmeticError, MemoryError)
"""What models do that do not suit the data."""
FEWEST_OF_CLASS = 3
"""Some models refuse to learn from all rows if a class has fewer."""


def make_splits(data: Data) -> list[Split]:
    """Rows that belong together stay together, and later rows are not used for earlier ones."""
    rows = np.arange(data.rows)
    if data.when is not None:
        later = later_rows(data.when[: data.rows], np.ptp(data.when[data.rows :]))
        return [(rows[~later], rows[later])]
    folds, repeats = (3 if data.rows > 20_000 else 5), (3 if data.rows < 200 else 1)
    if data.groups is not None:
        folds = min(folds, len(np.unique(data.groups)))
    if CLASSIFIES:
        sizes = np.bincount(data.truth)
        # A class of one row costs no folds, unless only one other class is left to tell apart.
        if (sizes >= folds).sum() < 2:
            folds = max(2, min(folds, int(sizes.min())))
    splits: list[Split] = []
    for seed in range(SEED, SEED + repeats):
        fold = folds_of(data, folds, seed)
        splits += [(rows[fold != each], rows[fold == each]) for each in range(folds)]
    return splits


def later_rows(order: np.ndarray, ahead: float) -> np.ndarray:
    """As far back as the rows to predict reach ahead, if these are 5 to 30 % of all; else 20 %."""
    later = order > order.max() - ahead
    if not 0.05 <= later.mean() <= 0.3:
        later = order >= np.sort(order)[int(0.8 * len(order))]
    return later


def folds_of(data: Data, folds: int, seed: int) -> np.ndarray:
    """The fold of each row, by chance: folds have equal shares of each class, and whole groups."""
    groups = np.arange(data.rows) if data.groups is None else data.groups
    _, first, group, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    classes = data.truth[first] if CLASSIFIES else np.zeros(len(first))
    order = np.random.default_rng(seed).permutation(len(first))
    # Groups of about the same size and class come one after the other.
    order = order[np.lexsort((sizes[order], classes[order]))]
    fold = np.empty(len(first), int)
    fold[order] = np.arange(len(first)) % folds
    return fold[group]


def use_one_thread() -> None:
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def takes_logarithm(name: str, truth: np.ndarray) -> bool:
    """Whether a target is learnt by its logarithm: relative errors count, or its tail is long."""
    if CLASSIFIES or truth.min() < 0:
        return False
    if name == "powers":
        return truth.min() > 0
    if METRIC in ("mse", "rmse", "r2", "pearson"):
        return False
    skew = (((truth - truth.mean()) / max(truth.std(), 1e-12)) ** 3).mean()
    return METRIC in RELATIVE or (truth.min() > 0 and skew > 0.75)


def fitted(
    name: str, model: Any, known: Table, truth: np.ndarray, width: int
) -> Callable[[Table], np.ndarray]:
    """What predicts one target for the rows of a table."""
    if CLASSIFIES:
        often = np.bincount(truth)[truth] >= FEWEST_OF_CLASS
        if len(set(truth[often])) > 1:
            known, truth = known[often], truth[often]
        model.fit(known, truth)
        # A rare class may be missing from the rows of one fold.
        return lambda table: model.predict_proba(table) @ np.eye(width)[model.classes_]
    into, back = np.positive, np.positive
    if takes_logarithm(name, truth):
        into, back = (np.log, np.exp) if name == "powers" else (np.log1p, np.expm1)
    wanted = into(truth)
    # Kernels and ridges like a target of unit size.
    middle, size = wanted.mean(), max(wanted.std(), 1e-12)
    model.fit(known, (wanted - middle) / size)
    # Nothing may lie far beyond what was seen.
    spare = 0.2 * (wanted.max() - wanted.min())
    ends = (wanted.min() - spare, wanted.max() + spare)
    return lambda table: back(np.clip(model.predict(table) * size + middle, *ends))


class TooSlowError(Exception):
    """A model does not fit into the time that is left."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises an error inside after this time. The alarm still ends what never looks up."""

    def stop(_number: int, _frame: object) -> None:
        raise TooSlowError

    signal.signal(signal.SIGUSR1, stop)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        yield None
    finally:
        timer.cancel()


def cross_predict(
    name: str, data: Data, views: Views, splits: list[Split], is_first: bool
) -> tuple[Prediction, Prediction, list[Split]] | None:
    """
    What a member says of each training row when not trained on it (the mean of all times), and of
    the rows to predict; none where it does not suit the data. The first member must go through: it
    is measured on fewer splits if need be.
    """
    wanted = data.truth
    width = int(wanted.max()) + 1 if CLASSIFIES else wanted.shape[1]
    unseen, asked = np.zeros((data.rows, width)), np.zeros((len(data.ids), width))
    times = np.zeros((data.rows, 1))
    done: list[Split] = []
    for known, held in splits:
        began = perf_counter()
        for target in [slice(None)] if CLASSIFIES else range(width):
            answers = wanted if CLASSIFIES else wanted[:, target]
            is_plain = METRIC in ABSOLUTE and not takes_logarithm(name, answers)
            loss: Loss = "absolute_error" if is_plain else "squared_error"
            if METRIC == "pinball":
                # Of a logarithm, a quantile is the logarithm of the quantile.
                loss = QUANTILES[target]
            member = make_member(name, views, loss)
            if member is None:
                return None
            model, table = member
            tell = fitted(name, model, table[known], answers[known], width)
            unseen[held, target] += tell(table[held])
            if data.when is not None:
                # The last rows are the nearest to those to predict.
                tell = fitted(name, model, table[: data.rows], answers, width)
            asked[:, target] += tell(table[data.rows :])
        times[held] += 1
        done.append((known, held))
        lasts = (perf_counter() - began) * (len(splits) - len(done))
        if len(done) < len(splits) and lasts > seconds_left():
            if not is_first:
                raise TooSlowError
            if perf_counter() - began > seconds_left():
                break
    return unseen / np.maximum(times, 1), asked / len(done), done


def choose_blend(truth: np.ndarray, guesses: list[Prediction]) -> np.ndarray:
    """
    Weights by greedy selection with replacement (Caruana et al. 2004): the next member is what
    makes the mean of all chosen so far score best. The best prefix counts.
    """
    picks, best, best_loss = np.zeros(len(guesses)), np.zeros(len(guesses)), np.inf
    for _ in range(30 if len(guesses) > 1 else 1):
        losses = []
        for place in range(len(guesses)):
            tried = picks + np.eye(len(guesses))[place]
            told = np.tensordot(tried / tried.sum(), guesses, axes=1)
            losses.append(reachable_loss(truth, told))
        picks[int(np.argmin(losses))] += 1
        if min(losses) < best_loss or not best.any():
            best, best_loss = picks / picks.sum(), min(losses)
    return best


def blended(
    truth: np.ndarray, guesses: list[Prediction], asked: list[Prediction]
) -> tuple[np.ndarray, Prediction]:
    """The weights that suit some rows, and what the blend then says of other rows."""
    weights = choose_blend(truth, guesses)
    factors = balance(truth, np.tensordot(weights, guesses, axes=1))
    return weights, np.tensordot(weights, asked, axes=1) * factors


def honest(truth: np.ndarray, guesses: list[Prediction], half: np.ndarray) -> Prediction:
    """The blend's predictions for each half of the rows, with weights from the other half."""
    told = np.zeros_like(guesses[0])
    for rows in (half, ~half):
        others = [each[~rows] for each in guesses]
        told[rows] = blended(truth[~rows], others, [each[rows] for each in guesses])[1]
    return told


def moving(data: Data) -> list[str]:
    """Columns of numbers in which the rows to predict lie beyond nearly all others, as years do."""
    names = []
    for name, column in data.numbers.items():
        least, most = np.nanquantile(column[: data.rows], [0.05, 0.95])
        if not least <= np.nanmedian(column[data.rows :]) <= most:
            names.append(name)
    return names


def better_way(data: Data, other: Data, what: str, splits: list[Split]) -> Data:
    """The one of two ways to see the same rows in which the first model is better, on two folds."""
    splits = splits[:2]
    held = np.unique(np.concatenate([held for _, held in splits]))
    losses = []
    try:
        for each in (data, other):
            told = cross_predict(MEMBERS[0], each, make_views(each), splits, is_first=True)
            losses.append(np.inf if told is None else loss_of(data.truth[held], told[0][held]))
    except UNFIT:
        return data
    print(f"{what}: loss {losses[1]:.6g}; else: {losses[0]:.6g}")
    return (data, other)[int(np.argmin(losses))]


def learn(data: Data) -> None:
    warnings.filterwarnings("ignore")
    if data.rows < ROWS_FOR_THREADS:
        use_one_thread()
    splits = make_splits(data)
    names = moving(data) if data.when is not None else []
    rest = {name: column for name, column in data.numbers.items() if name not in names}
    if names and (rest or data.names):
        # Trees know nothing of later times.
        less = replace(data, numbers=rest)
        data = better_way(data, less, f"last rows without {', '.join(names)}", splits)
    views = make_views(data)
    print(f"{data.rows} rows to learn from, {views.full.shape[1]} columns of numbers and names")
    found: dict[str, tuple[Prediction, Prediction]] = {}
    for name in MEMBERS:
        try:
            if found and seconds_left() < 0.1 * SECONDS:
                raise TooSlowError
            # The first one must go through.
            with at_most(seconds_left() + SPARE if found else threading.TIMEOUT_MAX):
                told = cross_predict(name, data, views, splits, not found)
        except TooSlowError:
            print(f"{name}: left out, for want of time")
            continue
        except UNFIT as problem:
            # One model that chokes on the data must not cost the others.
            print(f"{name}: left out, since it failed: {problem}")
            continue
        if told is None:
            print(f"{name}: left out, since it does not suit the data")
            continue
        found[name], splits = told[:2], told[2]
    held = np.unique(np.concatenate([held for _, held in splits]))
    unseen = [told[0][held] for told in found.values()]
    truth = data.truth[held]
    weights, answer = blended(truth, unseen, [told[1] for told in found.values()])
    for name, guess, weight in zip(found, unseen, weights, strict=True):
        print(f"{name}: {UNIT * score(truth, guess):.6g} alone, {weight:.2f} of the blend")
    half = np.random.default_rng(SEED).permutation(len(held)) % 2 == 0
    # A single model without further choice needs no halves.
    guess = honest(truth, unseen, half) if len(held) >= 40 else blended(truth, unseen, unseen)[1]
    print(f"validation {METRIC_NAME}: {UNIT * score(truth, guess):.6g}")
    if loss_of(truth, guess) >= reachable_loss(truth, constant_for(truth, guess.shape[1])):
        print("no better than a constant")
    write_submission(data, answer)


def constant_for(truth: np.ndarray, width: int) -> Prediction:
    """The same for all rows: how frequent each class is, or the middle of the targets."""
    if CLASSIFIES:
        middle = np.bincount(truth, minlength=width) / len(truth)
    elif METRIC == "pinball":
        middle = np.array([np.quantile(*each) for each in zip(truth.T, QUANTILES, strict=True)])
    else:
        middle = (np.median if METRIC in ABSOLUTE else np.mean)(truth, axis=0)
    return np.tile(middle, (len(truth), 1))
