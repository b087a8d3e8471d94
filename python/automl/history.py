"""What the targets were before, where the rows to predict come after all others."""

from itertools import combinations

import numpy as np

from automl.data import Data

PERIODS = (7, 12, 24, 52, 168, 364)
"""In steps of time: days of a week, months of a year, hours of a day, ..."""
MOST_PERIODS = 2
ROUNDS_BACK = 4
"""How many periods are averaged."""
MOST_KEYS = 8
"""Columns that may tell one series from another."""
LEAST_STEPS = 20
MOST_CELLS = 5_000_000


def add_history(data: Data) -> None:
    """
    For each row, the targets of the same series at about the same time of earlier periods, and
    their latest level: nothing that is nearer than the last row to predict is to the known ones.
    """
    if data.when is None:
        return
    times = np.unique(data.when)
    step = np.median(np.diff(times))
    place = np.round((data.when - times[0]) / step).astype(int)
    steps, ahead = int(place.max()) + 1, int(place.max() - place[: data.rows].max())
    which = series_of(data, place)
    if which is None or steps - ahead < LEAST_STEPS or steps * (which.max() + 1) > MOST_CELLS:
        return
    for target, answers in enumerate(data.truth.T):
        grid = np.full((which.max() + 1, steps), np.nan)
        grid[which[: data.rows], place[: data.rows]] = answers
        likely = [each for each in PERIODS if 2 * each + ahead < steps]
        periods = sorted(likely, key=lambda each: -likeness_after(grid, each))[:MOST_PERIODS]
        known = {f"level of {each}": level(grid, ahead, each) for each in periods or [ahead]}
        for period in periods:
            first = period * -(-ahead // period)
            back = [later(grid, first + period * turn) for turn in range(ROUNDS_BACK)]
            known |= {f"{period} back": back[0], f"mean of {period} back": mean_known(back)}
        for name, cells in known.items():
            data.numbers[f"target {target} {name}"] = cells[which, place]
    print(f"joined the history of {which.max() + 1} series, {ahead} steps ahead")


def series_of(data: Data, place: np.ndarray) -> np.ndarray | None:
    """The number of the series that each row belongs to: the fewest columns by which no time of one
    series comes twice; None if there are none."""
    few = [
        (name, cells.astype(str))
        for name, cells in [*data.names.items(), *data.numbers.items()]
        if 1 < len(np.unique(cells)) <= len(place) / LEAST_STEPS
    ][:MOST_KEYS]
    for count in range(3):
        for chosen in combinations([cells for _, cells in few], count):
            keys = ["/".join(each) for each in zip(*chosen, strict=True)] or [""] * len(place)
            which = np.unique(keys, return_inverse=True)[1]
            if len(np.unique(which * (place.max() + 1) + place)) == len(place):
                return which
    return None


def later(grid: np.ndarray, steps: int) -> np.ndarray:
    """The numbers of a series, shape (series, steps), so many steps later."""
    return np.hstack([np.full((len(grid), steps), np.nan), grid])[:, : grid.shape[1]]


def level(grid: np.ndarray, ahead: int, steps: int) -> np.ndarray:
    """The mean of the known ones of so many steps, the last of which is as far back as `ahead`."""
    known = ~np.isnan(grid)
    sums = [np.cumsum(each, axis=1) for each in (known, np.nan_to_num(grid))]
    count, total = (later(each - np.nan_to_num(later(each, steps)), ahead) for each in sums)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_known(grids: list[np.ndarray]) -> np.ndarray:
    """Of each cell; not-a-number where none is known."""
    count = np.sum([~np.isnan(each) for each in grids], axis=0)
    total = np.sum([np.nan_to_num(each) for each in grids], axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def likeness_after(grid: np.ndarray, steps: int) -> float:
    """The correlation of the numbers, less the mean of their series, with those of later."""
    around = grid - np.nanmean(grid, axis=1, keepdims=True)
    pair = np.array([around.ravel(), later(around, steps).ravel()])
    pair = pair[:, ~np.isnan(pair).any(axis=0)]
    return float(np.corrcoef(pair)[0, 1]) if pair.shape[1] > 2 and pair.std(1).all() else -1.0
