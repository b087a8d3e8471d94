"""Which public columns reveal as much about a hidden value as the order of the rows does.

Rows in the order of their time, for example, reveal nothing if the time is a public column.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations

from order import Measure, mean, measure_of, pieces_of
from relations import Hidden
from tables import chosen, numbers_of

MOST_FEATURES = 40
# Columns by which rows are grouped, and how many rows a group has on average.
MOST_GROUPING, FEWEST_IN_GROUP = 3, 5
BINS = 20
ROUNDS = 8
# An order that reveals less than this beyond the public columns adds nothing.
LEAST_REVEALED = 0.05


class Shown:
    """The public columns of the rows, in the order of the rows."""

    def __init__(self, features: dict[str, list[str]]) -> None:
        names = chosen(list(features), MOST_FEATURES)
        self._features = {name: features[name] for name in names}
        self._best: dict[str, list[str]] = {}

    def ordering(self) -> str:
        """Public columns by which the rows are sorted, each row at its own place; or nothing."""
        keys = {name: sorting_keys(column) for name, column in self._features.items()}
        rising = [name for name, column in keys.items() if is_rising(column)]
        for name in rising:
            if len(set(keys[name])) == len(keys[name]):
                return name
        for first, second in permutations(keys, 2):
            if first in rising:
                pairs = list(zip(keys[first], keys[second], strict=True))
                if is_rising(pairs) and len(set(pairs)) == len(pairs):
                    return f"{first} and {second}"
        return ""

    def explaining(self, hidden: Hidden, seen: Sequence[str]) -> str:
        """Public columns beyond which `seen` adds nothing about the hidden values; or nothing."""
        places = pieces_of(len(seen))
        values, column = [hidden.values[at] for at in places], [seen[at] for at in places]
        measures = [measure_of(hidden.kind, values, column, near) for near in (1, 8)]
        names = self._best.setdefault(hidden.name, self._most_revealing(hidden, places))
        for count in range(1, len(names) + 1):
            keys = [grouped([self._features[name][at] for at in places]) for name in names[:count]]
            groups = groups_of(keys)
            if len(groups) * FEWEST_IN_GROUP > len(places):
                break
            if max(beyond(measure, values, groups) for measure in measures) < LEAST_REVEALED:
                return " and ".join(names[:count])
        return ""

    def _most_revealing(self, hidden: Hidden, places: Sequence[int]) -> list[str]:
        values = [hidden.values[at] for at in places]
        strengths = {}
        for name, feature in self._features.items():
            column = grouped([feature[at] for at in places])
            if 1 < len(set(column)) <= len(places) / FEWEST_IN_GROUP:
                strengths[name] = measure_of(hidden.kind, values, column, 1)(values)
        return sorted(strengths, key=lambda name: -strengths[name])[:MOST_GROUPING]


def beyond(measure: Measure, values: list[str], groups: Sequence[Sequence[int]]) -> float:
    """Strength beyond that of values shuffled among rows that look the same."""
    generator = random.Random(0)
    others = []
    for _ in range(ROUNDS):
        shuffled = list(values)
        for rows in groups:
            for row, other in zip(rows, generator.sample(rows, len(rows)), strict=True):
                shuffled[row] = values[other]
        others.append(measure(shuffled))
    return measure(values) - mean(others)


def groups_of(columns: Sequence[Sequence[str]]) -> list[list[int]]:
    """The rows that have the same values in all columns."""
    groups: dict[tuple, list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*columns, strict=True)):
        groups[key].append(row)
    return list(groups.values())


def grouped(column: Sequence[str]) -> list[str]:
    """The column itself, or intervals of its numbers if most of them differ."""
    numbers = numbers_of(column)
    if numbers is None or len(set(column)) * FEWEST_IN_GROUP <= len(column):
        return list(column)
    ranked = sorted(numbers)
    cuts = [ranked[len(ranked) * cut // BINS] for cut in range(1, BINS)]
    return [str(sum(number >= cut for cut in cuts)) for number in numbers]


def sorting_keys(column: Sequence[str]) -> Sequence:
    return numbers_of(column) or column


def is_rising(keys: Sequence) -> bool:
    return all(keys[at] <= keys[at + 1] for at in range(len(keys) - 1))
