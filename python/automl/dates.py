"""Columns of dates and times."""

from datetime import datetime

import numpy as np

from automl.data import Data
from automl.formats import as_number

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
    days = np.full(len(cells), np.nan)
    parts = np.full((len(cells), 5), np.nan)
    for row, cell in enumerate(cells):
        moment = read(cell, way)
        if moment is not None:
            days[row] = (
                moment.replace(tzinfo=None) - datetime(1970, 1, 1)
            ).total_seconds() / 86_400
            date = (moment.year, moment.month, moment.day, moment.weekday())
            parts[row] = (*date, moment.hour + moment.minute / 60)
    data.numbers[name] = days - np.nanmin(days)
    for label, column in zip(("year", "month", "day", "weekday", "hour"), parts.T, strict=True):
        data.numbers[f"{name} {label}"] = column
    for label, place, period in (("month", 1, 12), ("weekday", 3, 7), ("hour", 4, 24)):
        angle = 2 * np.pi * parts[:, place] / period
        data.numbers[f"{name} {label} sine"] = np.sin(angle)
        data.numbers[f"{name} {label} cosine"] = np.cos(angle)
    return True


def ways() -> list[str]:
    return ["iso", *(date + time for date in FORMATS for time in TIMES)]


def read(cell: str, way: str) -> datetime | None:
    try:
        return datetime.fromisoformat(cell) if way == "iso" else datetime.strptime(cell, way)
    except ValueError:
        return None


def most_read(cells: list[str], way: str) -> bool:
    moments = [read(cell, way) for cell in cells]
    years = [moment.year for moment in moments if moment is not None]
    is_sensible = bool(years) and min(years) >= 1800 and max(years) <= 2200
    return len(years) >= 0.95 * len(cells) and is_sensible
