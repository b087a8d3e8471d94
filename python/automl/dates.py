"""Columns of dates and times."""

from collections.abc import Callable
from datetime import datetime

import numpy as np

from automl.data import Data
from automl.moments import moments_of


def add_dates(name: str, cells: list[str], data: Data) -> bool:
    """
    Days since the first one and since the moments in other columns, and the parts that may come
    back each day, week or year.
    """
    moments = moments_of(cells)
    if not moments:
        return False
    first = min(filter(None, moments))
    parts: tuple[tuple[str, Callable[[datetime], float], int], ...] = (
        (name, lambda moment: (moment - first).total_seconds() / 86_400, 0),
        (f"{name} year", lambda moment: moment.year, 0),
        (f"{name} month", lambda moment: moment.month, 12),
        (f"{name} day", lambda moment: moment.day, 0),
        (f"{name} weekday", datetime.weekday, 7),
        (f"{name} hour", lambda moment: moment.hour + moment.minute / 60, 24),
    )
    for label, of, period in parts:
        column = np.array([np.nan if each is None else of(each) for each in moments], float)
        data.numbers[label] = column
        if period:
            data.numbers[f"{label} sine"] = np.sin(2 * np.pi * column / period)
            data.numbers[f"{label} cosine"] = np.cos(2 * np.pi * column / period)
    for other, start in data.starts.items():
        since = (first - start).total_seconds() / 86_400
        data.numbers[f"{other} to {name}"] = data.numbers[name] - data.numbers[other] + since
    data.starts[name] = first
    return True
