"""What row order, ids and files alone reveal about hidden values: beyond chance, it may be a leak.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from relations import Hidden, class_strength, explained_by_equal, explained_by_near
from tables import numbers_of

MOST_ROWS = 1_200
PIECES = 12
FEWEST = 20
ROUNDS = 200
# If this many rounds with shuffled values do as well, it is chance.
ENOUGH = 4


@dataclass(frozen=True)
class Revealed:
    """How much a trivial model explains beyond chance, and how certain that is."""

    by: str
    hidden: str
    strength: float
    deviations: float
    rows: int
    # Public columns that reveal as much; empty if none do.
    shown: str = ""


def pieces_of(rows: int) -> list[int]:
    """Some rows in their order, with neighbours kept together."""
    if rows <= MOST_ROWS:
        return list(range(rows))
    size, step = MOST_ROWS // PIECES, rows / PIECES
    return [int(piece * step) + at for piece in range(PIECES) for at in range(size)]


def revealed_by(hidden: Hidden, by: str, seen: Sequence[str]) -> Revealed | None:
    """What one column reveals; None if shuffled values do as well."""
    places = pieces_of(len(seen))
    values = [hidden.values[place] for place in places]
    column = [seen[place] for place in places]
    if len(values) < FEWEST or len(set(column)) < 2 or len(set(values)) < 2:
        return None
    best: Revealed | None = None
    # With few distinct values, equal values suffice: neighbours add nothing.
    for neighbours in (1, 8) if len(set(column)) > 40 else (1,):
        measure = measure_of(hidden.kind, values, column, neighbours)
        found = tested(measure, values)
        if found is not None and (best is None or found[1] > best.deviations):
            best = Revealed(by, hidden.name, *found, len(values))
    return best


Measure = Callable[[Sequence[str]], float]


def measure_of(kind: str, values: Sequence[str], column: Sequence[str], neighbours: int) -> Measure:
    if kind == "class":
        return lambda shuffled: class_strength(shuffled, column, neighbours)
    numbers = numbers_of(column)

    def explained(shuffled: Sequence[str]) -> float:
        targets = numbers_of(shuffled) or [0.0]
        by_equal = explained_by_equal(targets, column)
        if numbers is None:
            return by_equal
        return max(by_equal, explained_by_near(targets, numbers, neighbours))

    return explained


def tested(measure: Measure, values: list[str]) -> tuple[float, float] | None:
    """Strength beyond that of shuffled values, and by how many of their standard deviations."""
    strength = measure(values)
    generator = random.Random(0)
    shuffled, others, better = list(values), [], 0
    for _ in range(ROUNDS):
        generator.shuffle(shuffled)
        others.append(measure(shuffled))
        better += others[-1] >= strength
        if better >= ENOUGH:
            return None
        if len(others) in (15, 60):
            found = (strength - mean(others)) / spread_of(others, len(values))
            if found < 3 or found > 10:
                break
    beyond = strength - mean(others)
    return beyond, beyond / spread_of(others, len(values))


def spread_of(others: Sequence[float], rows: int) -> float:
    """If all shuffled values do equally badly, the spread of any share of so many rows."""
    return max(deviation(others), 0.5 / rows**0.5)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    middle = mean(values)
    return (sum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)) ** 0.5


def by_position(rows: int) -> Iterator[tuple[str, list[str]]]:
    yield "the row's position", [str(row) for row in range(rows)]
    for period in range(2, min(33, rows // 4)):
        yield f"the row's position modulo {period}", [str(row % period) for row in range(rows)]
