"""Columns of dates and times."""

from collections.abc import Callable
from datetime import datetime

import numpy as np

from automl.cells import as_number
from automl.data import Data

FORMATS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%d-%m-%Y", "%Y-%m"),
    *("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%A, %d %B %Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S")


def add_dates(name: str, cells: list[str], data: Data) -> bool:
    """Days since the first one, and the parts that may come back each day, week or year."""
    known = [cell for cell in cells if cell != ""]
    # A number of eight digits may be a date; others are none.
    is_number = not np.isnan(as_number(known[0]))
    if min(map(len, known)) < (8 if is_number else 7) or (is_number and not known[0].isdigit()):
        return False
    way = next((each for each in ways() if most_read(known[:200], each)), None)
    if way is None or not most_read(known, way):
        return False
    moments = [read(cell, way) for cell in cells]
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
    return True


def ways() -> list[str]:
    return ["iso", *(date + time for date in FORMATS for time in TIMES)]


def read(cell: str, way: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(cell) if way == "iso" else datetime.strptime(cell, way)
    except ValueError:
        return None
    return moment.replace(tzinfo=None)


def most_read(cells: list[str], way: str) -> bool:
    moments = [read(cell, way) for cell in cells]
    years = [moment.year for moment in moments if moment is not None]
    is_sensible = bool(years) and min(years) >= 1800 and max(years) <= 2200
    return len(years) >= 0.95 * len(cells) and is_sensible
