"""Tables as the leak checks see them: named columns of plain texts, wherever they were read."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MOST_COLUMNS = 160
MOST_ROWS = 400_000


@lru_cache(2**18, typed=True)
def plain_text(text: str) -> str:
    text = text.strip()
    if len(text) < 40 and NUMBER.fullmatch(text):
        return plain_number(float(text))
    return text.casefold()


def plain(value: object) -> str:
    """A value in its normal form, in which values are compared: 3, 3.0 and " 3" are the same."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, int | float):
        return plain_number(float(value)) if abs(value) < 1e300 else str(value)
    return plain_text(str(value))


def plain_number(number: float) -> str:
    # A value that was stored as a 32-bit number must still be the same.
    return f"{number:.7g}" if math.isfinite(number) else str(number)


@lru_cache(2**17)
def number_of(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def numbers_of(values: Sequence[str]) -> list[float] | None:
    """All values as numbers; None unless nearly all of them are."""
    found = [number_of(value) for value in values]
    known = [number for number in found if number is not None]
    if len(known) < 0.95 * len(found) or not known:
        return None
    middle = sorted(known)[len(known) // 2]
    return [middle if number is None else number for number in found]


def has_decimals(values: Sequence[str]) -> bool:
    """Whether these are measured numbers, and neither ids nor names."""
    numbers = numbers_of(values) or []
    return sum(number != int(number) for number in numbers) > len(values) / 2


@dataclass
class Table:
    """Columns of equal length. `where` names the place for people."""

    where: str
    columns: dict[str, list[str]] = field(default_factory=dict)
    # Whether the file contains nothing else.
    whole: bool = False
    lines: dict[int, bytes] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def is_key(self, name: str) -> bool:
        values = self.columns[name]
        return len(set(values)) >= 0.9 * len(values)


Tables = Iterator[Table]


def make_table(where: str, columns: dict[str, Iterable[object]]) -> Table:
    """A table of these columns, each value in its normal form; of very many columns a sample."""
    names = chosen(list(columns), MOST_COLUMNS)
    return Table(where, {str(name): [plain(value) for value in columns[name]] for name in names})


def columns_of(names: Sequence[object], rows: Sequence[Sequence[object]]) -> dict:
    places = chosen(list(range(len(names))), MOST_COLUMNS)
    return {f"{names[place]}": [row[place] for row in rows] for place in places}


def chosen(items: list, most: int) -> list:
    """Of very many: the first quarter, the last quarter, and evenly spaced ones in between."""
    if len(items) <= most:
        return items
    edge = most // 4
    step = (len(items) - 2 * edge) / (most - 2 * edge)
    between = [items[edge + int(place * step)] for place in range(most - 2 * edge)]
    return [*items[:edge], *between, *items[-edge:]]


def bits_of(values: Sequence[object]) -> float:
    """How unlikely these values in this order are, in bits."""
    orders = math.lgamma(len(values) + 1)
    for times in Counter(values).values():
        orders -= math.lgamma(times + 1)
    return orders / math.log(2)


PIECES = re.compile(r"[a-z]+|\d+", re.IGNORECASE)
MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 100)


def derived(name: str, values: Sequence[str]) -> dict[str, list[str]]:
    """Values that can be derived from a name or an id: its parts, its last digits, its length."""
    if not values:
        return {}
    columns: dict[str, list[str]] = {f"length of {name}": [str(len(value)) for value in values]}
    numbers = numbers_of(values)
    if numbers is not None and all(number == int(number) for number in numbers):
        whole = [int(number) for number in numbers]
        for modulus in MODULI:
            columns[f"{name} modulo {modulus}"] = [str(number % modulus) for number in whole]
        for power in (10, 100, 1000):
            columns[f"{name} divided by {power}"] = [str(number // power) for number in whole]
        return columns
    pieces = [PIECES.findall(value[:200]) for value in values]
    for place in range(min(8, max(map(len, pieces), default=0))):
        found = [part[place] if place < len(part) else "" for part in pieces]
        columns[f"part {place + 1} of {name}"] = [plain(piece) for piece in found]
        from_end = [part[-1 - place] if place < len(part) else "" for part in pieces]
        columns[f"part {place + 1} from the end of {name}"] = [plain(piece) for piece in from_end]
    longest = min(24, max(map(len, values)))
    for place in range(longest):
        columns[f"character {place + 1} of {name}"] = [value[place : place + 1] for value in values]
        columns[f"character {place + 1} from the end of {name}"] = [
            value[-1 - place] if place < len(value) else "" for value in values
        ]
    return {title: column for title, column in columns.items() if len(set(column)) > 1}
