"""Matches the rows of a table with the rows of a submission: by id, by content, by position."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tables import Table, bits_of, number_of, numbers_of

FEWEST = 10
SHARE = 0.02


@dataclass(frozen=True)
class Pairing:
    """Which row of a table belongs to which row of the submission, and how that is known."""

    how: str
    pairs: list[tuple[int, int]]
    used: frozenset[str] = frozenset()
    # Whether nothing but their order pairs the rows.
    by_order: bool = False


@dataclass
class Asked:
    """The rows of the submission: what is known of each, under which names, and their orders."""

    rows: int
    keys: dict[str, list[str]]
    # The features of a row, in the order of its columns: for joins by content.
    features: dict[str, list[str]] = field(default_factory=dict)
    # The same columns of rows with known values, to determine their range.
    shown: dict[str, list[str]] = field(default_factory=dict)
    known_orders: dict[str, list[int]] | None = None

    def enough(self, pairs: Sequence[object]) -> bool:
        return len(pairs) >= max(FEWEST, SHARE * self.rows)

    def orders(self) -> dict[str, list[int]]:
        if self.known_orders is None:
            self.known_orders = self.find_orders()
        return self.known_orders

    def find_orders(self) -> dict[str, list[int]]:
        # Only by the id: the order of a feature often relates to the target.
        places = list(range(self.rows))
        found = {"in the same order": places}
        for name, values in list(self.keys.items())[:1]:
            found[f"sorted by {name} as text"] = sorted(places, key=values.__getitem__)
            numbers = numbers_of(values)
            if numbers is not None:
                found[f"sorted by {name}"] = sorted(places, key=numbers.__getitem__)
        unique: dict[tuple[int, ...], str] = {}
        for name, order in found.items():
            unique.setdefault(tuple(order), name)
        return {name: list(order) for order, name in unique.items()}


def pairings(
    table: Table, asked: Asked, hidden: Sequence[Sequence[str]], place: str
) -> Iterator[Pairing]:
    """Every way in which the rows match; each set of pairs once."""
    if not asked.enough(range(table.rows)):
        return
    seen: set[int] = set()
    for way in (by_keys, by_contents, by_place):
        if way is by_place and place == "packages" and table.rows != asked.rows:
            continue
        for pairing in way(table, asked):
            mark = hash(tuple(pairing.pairs))
            if mark not in seen:
                seen.add(mark)
                yield pairing
    for column in hidden:
        for pairing in by_sequence(table, asked, column):
            mark = hash(tuple(pairing.pairs))
            if mark not in seen:
                seen.add(mark)
                yield pairing


def by_keys(table: Table, asked: Asked) -> Iterator[Pairing]:
    first = next(iter(asked.keys), None)
    for key, values in asked.keys.items():
        wanted = {value: row for row, value in enumerate(values) if value != ""}
        for name, column in table.columns.items():
            places: dict[int, int] = {}
            repeated = 0
            for row, value in enumerate(column):
                if value in wanted:
                    repeated += wanted[value] in places
                    places.setdefault(wanted[value], row)
            most = max(len(places) / asked.rows, len(places) / len(column))
            # Numbers match by chance: unless it is the id, nearly all must match.
            meant = key == first or most >= 0.5
            if asked.enough(places) and repeated <= 0.5 * len(places) and meant:
                used = frozenset([name])
                yield Pairing(f"joined by {name} = {key}", sorted(places.items()), used)


def by_contents(table: Table, asked: Asked) -> Iterator[Pairing]:
    features = asked.features
    if len(features) == 0:
        return
    names = list(table.columns)
    shared = [name for name in features if name in table.columns]
    if shared and len(shared) >= 0.5 * len(features):
        yield from by_tuple(
            table, asked, list(zip(shared, shared, strict=False)), None, "the columns they share"
        )
    width = len(features)
    whole = list(features)
    for start in range(min(6, max(0, len(names) - width + 1))):
        matched = list(zip(whole, names[start : start + width], strict=False))
        yield from by_tuple(table, asked, matched, None, "equal rows")
        if asked.shown and width > 1:
            yield from by_tuple(table, asked, matched, scaled, "rows that are equal when scaled")
    if 2 < width <= len(names) <= width + 3:
        yield from by_any_order(table, asked)
    matched = matched_columns(table, asked)
    if len(matched) >= 2:
        yield from by_tuple(table, asked, matched, None, "columns with the same values")


def matched_columns(table: Table, asked: Asked) -> list[tuple[str, str]]:
    """For each feature with many values, the column that contains nearly all of them."""
    sets = {name: set(column) for name, column in table.columns.items()}
    matched = []
    for feature, values in list(asked.features.items())[:60]:
        distinct = set(values)
        if len(distinct) < 8:
            continue
        best = max(sets, key=lambda name: len(distinct & sets[name]), default=None)
        if best is not None and len(distinct & sets[best]) >= 0.8 * len(distinct):
            matched.append((feature, best))
    return matched


Scale = Callable[[tuple[str, ...], tuple[str, ...]], list[str]]


@lru_cache(4096)
def scaled(values: tuple[str, ...], whole: tuple[str, ...]) -> list[str]:
    """Each value by its position between the least and the greatest of all."""
    numbers, reach = numbers_of(values), numbers_of(whole)
    if numbers is None or reach is None or max(reach) == min(reach):
        return ["" for _ in values]
    low, high = min(reach), max(reach)
    return [f"{(number - low) / (high - low):.3f}" for number in numbers]


def by_tuple(
    table: Table,
    asked: Asked,
    matched: list[tuple[str, str]],
    scale: Scale | None,
    how: str,
) -> Iterator[Pairing]:
    ours, theirs = [], []
    for feature, name in matched:
        values, column = asked.features[feature], table.columns[name]
        if scale is not None:
            values = scale(tuple(values), (*values, *asked.shown.get(feature, [])))
            column = scale(tuple(column), tuple(column))
        if len(ours) < 3 and len(set(values) & set(column)) < 0.3 * len(set(values)):
            return
        ours.append(values)
        theirs.append(column)
    used = frozenset(name for _, name in matched)
    yield from matching(
        list(zip(*ours, strict=False)), list(zip(*theirs, strict=False)), asked, used, how
    )


def by_any_order(table: Table, asked: Asked) -> Iterator[Pairing]:
    """Rows with the same values in any order of the columns."""
    ours = [tuple(sorted(row)) for row in zip(*asked.features.values(), strict=False)]
    names = list(table.columns)
    left_out = [set(names[-1:]), set(names[:1]), set()]
    for extra in left_out:
        kept = [name for name in names if name not in extra]
        if len(kept) != len(asked.features):
            continue
        theirs = [
            tuple(sorted(row)) for row in zip(*(table.columns[name] for name in kept), strict=False)
        ]
        how = "rows with the same values in another order"
        yield from matching(ours, theirs, asked, frozenset(kept), how)


def matching(
    ours: list[tuple[str, ...]],
    theirs: list[tuple[str, ...]],
    asked: Asked,
    used: frozenset[str],
    how: str,
) -> Iterator[Pairing]:
    counts = Counter(ours)
    wanted = {row: place for place, row in enumerate(ours) if counts[row] == 1 and any(row)}
    if len(wanted) < 0.3 * len(ours):
        return
    found: dict[int, int] = {}
    for place, row in enumerate(theirs):
        if row in wanted:
            found.setdefault(wanted[row], place)
    if asked.enough(found):
        yield Pairing(f"joined by {how}", sorted(found.items()), used)


def by_place(table: Table, asked: Asked) -> Iterator[Pairing]:
    extra = table.rows - asked.rows
    if extra < 0 or asked.rows < FEWEST:
        return
    shown = len(next(iter(asked.shown.values()), []))
    starts = {0: "", extra: ", at the end"} | ({shown: ", after others"} if shown <= extra else {})
    for name, order in asked.orders().items():
        for start, place in starts.items():
            pairs = sorted((row, start + at) for at, row in enumerate(order))
            yield Pairing(f"{name}{place}", pairs, by_order=True)
            if extra == 0:
                back = [(row, table.rows - 1 - at) for at, row in enumerate(order)]
                yield Pairing(f"{name}, backwards", sorted(back), by_order=True)


def by_sequence(table: Table, asked: Asked, hidden: Sequence[str]) -> Iterator[Pairing]:
    """A part of a column that repeats in the same pattern as the hidden values, at any position."""
    if table.rows <= asked.rows or asked.rows < FEWEST:
        return
    for name, order in asked.orders().items():
        for direction in (1, -1):
            values = [hidden[row] for row in order][::direction]
            needle, start = repeats(tuple(values))
            if needle is None:
                continue
            for column in table.columns.values():
                offset = find(line_of(table, column), needle)
                first = -1 if offset < 0 else offset - start
                if 0 <= first and first + asked.rows <= table.rows:
                    pairs = [(row, first + at) for at, row in enumerate(order[::direction])]
                    how = f"{name}, from row {first + 1} on"
                    yield Pairing(how, sorted(pairs), by_order=True)
                    break


def line_of(table: Table, column: list[str]) -> bytes:
    """The distances of a column, computed once."""
    if id(column) not in table.lines:
        table.lines[id(column)] = array("i", distances(column)).tobytes()
    return table.lines[id(column)]


@lru_cache(256)
def repeats(values: tuple[str, ...]) -> tuple[bytes | None, int]:
    """How far back each value of the last part occurred before: the same for every code."""
    found = distances(values)
    start = max((place for place, distance in enumerate(found) if distance == 0), default=0) + 1
    start = max(start, len(found) - 400)
    if len(found) - start < 8 or bits_of(values[start:]) < 30:
        return None, 0
    return array("i", found[start:]).tobytes(), start


def distances(values: Sequence[str]) -> list[int]:
    last: dict[str, int] = {}
    found = []
    for place, value in enumerate(values):
        found.append(place - last[value] if value in last else 0)
        last[value] = place
    return found


def find(text: bytes, needle: bytes) -> int:
    place = -1
    while (place := text.find(needle, place + 1)) >= 0:
        if place % 4 == 0:
            return place // 4
    return -1


def holds_all(column: Sequence[str], values: Sequence[str]) -> bool:
    """All of these values, each at least as often, in a column that is not much longer."""
    if len(column) > 4 * len(values) or number_of(values[0]) is None:
        return False
    have = Counter(column)
    return all(have[value] >= times for value, times in Counter(values).items())
