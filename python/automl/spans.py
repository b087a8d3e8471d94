"""Tables whose rows hold from one day to another, as prices, promotions and holidays do."""

from bisect import bisect_right
from collections import defaultdict
from datetime import datetime, time, timedelta
from itertools import combinations

from automl.formats import Columns
from automl.moments import moments_of


def find_span(asked: Columns, told: Columns) -> list[str]:
    """Columns of the first and the last day, and that of the days asked for; else empty."""
    dates = {name: moments for name, cells in told.items() if (moments := moments_of(cells))}
    for begin, end in combinations(dates, 2):
        pairs = list(zip(dates[begin], dates[end], strict=True))
        if all(a and (b is None or a <= b) for a, b in pairs) and any(a != b for a, b in pairs):
            for when, cells in asked.items():
                if when not in told and moments_of(cells):
                    return [begin, end, when]
    return []


def join_span(table: Columns, keys: list[str], span: list[str], other: Columns) -> Columns:
    """What holds for each row on its day: of several, what began last."""
    begin, end, when = span
    starts, ends, asked = moments_of(other[begin]), moments_of(other[end]), moments_of(table[when])
    are_days = all(each is None or each == datetime.combine(each, time()) for each in ends)
    known = defaultdict[tuple[str, ...], list[tuple[datetime, int]]](list)
    for row, start in enumerate(starts):
        if start is not None:
            known[tuple(other[name][row] for name in keys)].append((start, row))
    for rows in known.values():
        rows.sort()
    found: list[int | None] = []
    for row, moment in enumerate(asked):
        rows = known[tuple(table[name][row] for name in keys)] if moment else []
        place = bisect_right(rows, (moment, len(starts))) - 1 if rows else -1
        last = ends[rows[place][1]] if place >= 0 else None
        is_over = last is not None and moment >= last + timedelta(days=are_days)
        found.append(None if place < 0 or is_over else rows[place][1])
    values = [name for name in other if name not in (*keys, begin, end)]
    columns = {name: ["" if row is None else other[name][row] for row in found] for name in values}
    return {"holds": [str(int(row is not None)) for row in found], **columns}
