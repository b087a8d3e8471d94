"""Dates and times, in the ways in which tables have them."""

from datetime import datetime

from automl.cells import is_number

FORMATS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%d-%m-%Y", "%Y-%m"),
    *("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%A, %d %B %Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S")


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


def moments_of(cells: list[str]) -> list[datetime | None]:
    """None for gaps; an empty list if they are no dates."""
    way = way_of(cells)
    told = {cell: read(cell, way) for cell in set(cells)} if way else {}
    return [told[cell] for cell in cells] if way else []


def days_of(cells: list[str]) -> list[str]:
    """Each as 2024-12-31, gaps as empty cells; or the cells themselves, if they are no dates."""
    return [str(each.date()) if each else "" for each in moments_of(cells)] or cells


def most_read(cells: list[str], way: str) -> bool:
    moments = [read(cell, way) for cell in cells]
    years = [moment.year for moment in moments if moment is not None]
    is_sensible = bool(years) and min(years) >= 1800 and max(years) <= 2200
    return len(years) >= 0.95 * len(cells) and is_sensible
