"""What stands in the rows before and after each row of the same series."""

from dataclasses import replace

import numpy as np

from automl.data import Data

LEAST_LONG = 3
"""Rows of a series, on the mean."""
STEPS = (-2, -1, 1, 2)
"""Of names; of numbers and words, the nearest rows alone."""
WIDTHS = (2, 5, 12)
"""Of means around each row: so many rows before and after it."""
MOST_CELLS = 500_000
"""Of numbers; with more, those around them would take all of the time."""


def series_of(cells: list[str]) -> np.ndarray | None:
    """A number for the series of each row, if the rows of each stand one below the other."""
    changes = [one != other for one, other in zip(cells, cells[1:], strict=False)]
    count = 1 + sum(changes)
    if count != len(set(cells)) or count * LEAST_LONG > len(cells):
        return None
    return np.cumsum([0, *changes])


def with_surroundings(data: Data) -> Data:
    """The same with what the rows around each have, as far as they are of its series."""
    series = data.series
    if series is None or len(data.numbers) * len(series) > MOST_CELLS:
        return data
    numbers, names, words = dict(data.numbers), dict(data.names), list(data.words)
    rows = np.arange(len(series))
    for step in STEPS:
        place = np.clip(rows + step, 0, len(rows) - 1)
        is_known = (place == rows + step) & (series[place] == series)
        for name, cells in data.names.items():
            names[f"{name} {step:+d} rows"] = np.where(is_known, cells[place], "")
        if abs(step) == 1:
            for name, column in data.numbers.items():
                numbers[f"{name} {step:+d} rows"] = np.where(is_known, column[place], np.nan)
            words += [each[place].multiply(is_known[:, None]).tocsr() for each in data.words]
    first, last = np.searchsorted(series, series), np.searchsorted(series, series, "right")
    for name, column in data.numbers.items():
        numbers[f"{name} beside its series"] = column - means(column, first, last)
        for width in WIDTHS:
            around = np.maximum(rows - width, first), np.minimum(rows + width + 1, last)
            numbers[f"{name} of {width} rows around"] = means(column, *around)
    return replace(data, numbers=numbers, names=names, words=words)


def means(column: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Of what is known in the rows from each start to before each end."""
    known = ~np.isnan(column)
    sums = np.append(0, np.cumsum(np.where(known, column, 0)))
    counts = np.append(0, np.cumsum(known))
    times = counts[end] - counts[start]
    return np.where(times > 0, (sums[end] - sums[start]) / np.maximum(times, 1), np.nan)
