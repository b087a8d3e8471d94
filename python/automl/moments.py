"""Dates and times, in the ways in which tables have them."""

import re
from collections import defaultdict
from datetime import datetime

from automl.cells import DATE, is_number

FORMATS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%d-%m-%Y", "%Y-%m"),
    *("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%A, %d %B %Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%m/%Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S")
MOST_FORMS = 6
YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
MOST_YEARS = 0.2
"""Of the dates of a column."""


def way_of(cells: list[str]) -> str:
    """How nearly all known cells can be read; empty if they are no dates."""
    known = list(dict.fromkeys(filter(None, cells)))
    # A number of eight digits may be a date; others are none.
    least = 8 if known and is_number(known[0]) else 7
    if not known or min(map(len, known)) < least or (least == 8 and not known[0].isdigit()):
        return ""
    likely = [way for way in ways() if any(read(cell, way) for cell in known[:3])]
    way = next((each for each in likely if most_read(known[:200], each)), "")
    return way if way and most_read(known, way) else ""


def ways() -> list[str]:
    return ["iso", *(date + time for date in FORMATS for time in TIMES)]


def read(cell: str, way: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(cell) if way == "iso" else datetime.strptime(cell, way)
    except ValueError:
        return None
    return moment.replace(tzinfo=None)


def middle_of_year(cell: str) -> datetime | None:
    year = YEAR.search(cell)
    return datetime(int(year[0]), 7, 1) if year else None


def moments_of(cells: list[str]) -> list[datetime | None]:
    """
    None for gaps; an empty list if they are no dates. Some may be written in another way, and a few
    be years alone, also in words as `about 2015`.
    """
    known = list(dict.fromkeys(filter(None, cells)))
    parts = {"": known}
    if not way_of(known) and any(map(DATE.match, known[:20])):
        parts = defaultdict(list)
        for cell in known:
            parts[re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", cell))].append(cell)
    told: dict[str, datetime | None] = {}
    for part in parts.values() if len(parts) <= MOST_FORMS else [[]]:
        way = way_of(part)
        is_few = len(part) < MOST_YEARS * len(known)
        years = {cell: middle_of_year(cell) for cell in part} if is_few and not way else {}
        if not way and not (years and all(years.values())):
            return []
        told |= years or {cell: read(cell, way) for cell in part}
    return [told.get(cell) for cell in cells]


def most_read(cells: list[str], way: str) -> bool:
    moments = [read(cell, way) for cell in cells]
    years = [moment.year for moment in moments if moment is not None]
    is_sensible = bool(years) and min(years) >= 1800 and max(years) <= 2200
    return len(years) >= 0.95 * len(cells) and is_sensible
