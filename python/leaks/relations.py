"""How well one column predicts another: whatever the code, the scale or the order of the values."""

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tables import bits_of, numbers_of, plain

# Of very many rows, a sample suffices; a smaller one shows whether to look closer.
MOST_ROWS, GLANCE = 1_500, 300
MOST_PAIRS_OF = 260
MOST_IN_A_CODE = 20
SAME_VALUES = "the same values"


@dataclass(frozen=True)
class Hidden:
    """Values that agents must not know, in the order of the rows of the submission."""

    name: str
    values: list[str]

    @property
    def kind(self) -> str:
        distinct = len(set(self.values))
        if distinct > max(20, len(self.values) // 5):
            return "number" if numbers_of(self.values) is not None else "text"
        return "class"


@dataclass(frozen=True)
class Relation:
    """A relation between two columns: `how`, and how much better than chance, 1 being exact."""

    how: str
    strength: float


def relate(hidden: Sequence[str], kind: str, seen: Sequence[str], bits: float) -> Relation | None:
    """The strongest relation of paired values; None if they carry less than `bits` bits."""
    if len(hidden) > 2 * GLANCE:
        few = sampled(hidden, seen, GLANCE)
        found = strongest_of(*few, kind)
        if found is None or found.strength < 0.4:
            return None
    if len(hidden) > MOST_ROWS:
        hidden, seen = sampled(hidden, seen, MOST_ROWS)
    if min(bits_of(hidden), bits_of(seen)) < bits:
        return None
    return strongest_of(hidden, seen, kind)


@lru_cache(64)
def sample_of(rows: int, most: int) -> list[int]:
    return sorted(random.Random(0).sample(range(rows), most))


def sampled(hidden: Sequence[str], seen: Sequence[str], most: int) -> tuple[list[str], list[str]]:
    places = sample_of(len(hidden), most)
    return [hidden[place] for place in places], [seen[place] for place in places]


def strongest_of(hidden: Sequence[str], seen: Sequence[str], kind: str) -> Relation | None:
    chance = most_common_share(hidden)
    if chance == 1:
        return None
    equal = (share_equal(hidden, seen) - chance) / (1 - chance)
    if equal > 0.3:
        return Relation(SAME_VALUES, equal)
    if kind == "text":
        return None
    strength = class_strength(hidden, seen) if kind == "class" else number_strength(hidden, seen)
    return Relation("other values that determine them", strength)


def share_equal(hidden: Sequence[str], seen: Sequence[str]) -> float:
    return sum(map(same, hidden, seen)) / len(hidden)


def same(one: str, other: str) -> bool:
    """Numbers are normalised already; lists may be in another order."""
    return one == other or (
        separators.search(one) is not None and sorted(parts(one)) == sorted(parts(other))
    )


separators = re.compile(r"[\s,;|]+")


def parts(text: str) -> list[str]:
    return [part for part in separators.split(text) if part]


def most_common_share(values: Sequence[str]) -> float:
    return max(Counter(values).values()) / len(values)


def class_strength(hidden: Sequence[str], seen: Sequence[str], neighbours: int = 1) -> float:
    """Kappa of the best guess of each class from other rows: by equal values or near ones."""
    chance = most_common_share(hidden)
    if chance == 1:
        return 0.0
    strengths = [by_equal_value(hidden, seen)]
    numbers = numbers_of(seen)
    if numbers is not None:
        strengths.append(by_near_value(hidden, numbers, neighbours))
    indicator = one_class_told(hidden, seen)
    return max(indicator, *((right - chance) / (1 - chance) for right in strengths))


def by_equal_value(hidden: Sequence[str], seen: Sequence[str]) -> float:
    """Share of rows whose class the other rows with the same value predict."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for value, label in zip(seen, hidden, strict=True):
        groups[value][label] += 1
    right = 0
    for group in groups.values():
        (_, most), *others = group.most_common(2)
        second = others[0][1] if others else 0
        # A row that is alone with its value shows nothing, nor does a tie without it.
        right += most if most - 1 > second or (most > 1 and second == 0) else 0
    return right / len(hidden)


def sorted_by(numbers: Sequence[float]) -> list[int]:
    """Positions in the order of their numbers, with equal ones shuffled: rows may have an order."""
    places = list(shuffled(len(numbers)))
    return sorted(places, key=numbers.__getitem__)


@lru_cache(64)
def shuffled(rows: int) -> tuple[int, ...]:
    return tuple(random.Random(rows).sample(range(rows), rows))


def by_near_value(hidden: Sequence[str], numbers: Sequence[float], neighbours: int) -> float:
    """Share of rows whose class is the most frequent one among their neighbours by the number."""
    order = sorted_by(numbers)
    labels = [hidden[place] for place in order]
    window: Counter[str] = Counter(labels[: neighbours + 1])
    right = 0
    for place, label in enumerate(labels):
        window[label] -= 1
        right += window[label] > 0 and window[label] == max(window.values())
        window[label] += 1
        if place + neighbours + 1 < len(labels):
            window[labels[place + neighbours + 1]] += 1
        if place - neighbours >= 0:
            window[labels[place - neighbours]] -= 1
    if neighbours == 1:
        # With two neighbours of different classes, a guess is right half of the time.
        tied = sum(
            0 < place < len(labels) - 1
            and labels[place - 1] != labels[place + 1]
            and labels[place] in (labels[place - 1], labels[place + 1])
            for place in range(len(labels))
        )
        right -= tied / 2
    return right / len(hidden)


def one_class_told(hidden: Sequence[str], seen: Sequence[str]) -> float:
    """
    Correlation of two values with membership in one class: a column of a one-hot code. Not of one
    of many classes, which may be counts: that a shop is closed tells that it sells nothing.
    """
    values = Counter(seen)
    if len(values) != 2 or len(set(hidden)) > MOST_IN_A_CODE:
        return 0.0
    flag = min(values, key=values.__getitem__)
    flagged = Counter(label for label, value in zip(hidden, seen, strict=True) if value == flag)
    label, both = flagged.most_common(1)[0]
    total, marked, members = len(hidden), values[flag], hidden.count(label)
    spread = marked * (total - marked) * members * (total - members)
    return 0.0 if spread == 0 else (total * both - marked * members) / math.sqrt(spread)


def number_strength(hidden: Sequence[str], seen: Sequence[str]) -> float:
    """How well order predicts order (rounded, scaled, negated), or equal values predict the mean.
    """
    targets = numbers_of(hidden)
    if targets is None:
        return 0.0
    strengths = [explained_by_equal(targets, seen)]
    numbers = numbers_of(seen)
    if numbers is not None:
        strengths.append(abs(order_agreement(targets, numbers)))
        strengths.append(explained_by_near(targets, numbers))
    return max(strengths)


def order_agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """Goodman and Kruskal's gamma: 1 when one never falls while the other rises."""
    places = range(len(one))
    if len(one) > MOST_PAIRS_OF:
        places = random.Random(0).sample(places, MOST_PAIRS_OF)
    first = gamma_of([(one[place], other[place]) for place in places][:40])
    if abs(first) < 0.75:
        return first
    return gamma_of([(one[place], other[place]) for place in places])


def gamma_of(pairs: Sequence[tuple[float, float]]) -> float:
    rising = falling = 0
    for place, (x, y) in enumerate(pairs):
        for u, v in pairs[:place]:
            product = (x - u) * (y - v)
            rising += product > 0
            falling += product < 0
    return 0.0 if rising + falling == 0 else (rising - falling) / (rising + falling)


def explained_by_equal(targets: Sequence[float], seen: Sequence[str]) -> float:
    groups: dict[str, list[float]] = defaultdict(list)
    for value, target in zip(seen, targets, strict=True):
        groups[value].append(target)
    mean = sum(targets) / len(targets)
    total = sum((target - mean) ** 2 for target in targets)
    left = 0.0
    for members in groups.values():
        if len(members) == 1:
            left += (members[0] - mean) ** 2
            continue
        whole = sum(members)
        left += sum((t - (whole - t) / (len(members) - 1)) ** 2 for t in members)
    return 0.0 if total == 0 else 1 - left / total


def explained_by_near(
    targets: Sequence[float], numbers: Sequence[float], neighbours: int = 1
) -> float:
    """Share of the variance that the mean of the neighbours by the number explains."""
    order = sorted_by(numbers)
    line = [targets[place] for place in order]
    mean = sum(line) / len(line)
    total = sum((target - mean) ** 2 for target in line)
    left, sums = 0.0, [0.0]
    for target in line:
        sums.append(sums[-1] + target)
    for place, target in enumerate(line):
        start, end = max(0, place - neighbours), min(len(line), place + neighbours + 1)
        left += (target - (sums[end] - sums[start] - target) / max(1, end - start - 1)) ** 2
    return 0.0 if total == 0 else 1 - left / total


def lengths(hidden: Hidden) -> Hidden | None:
    """For long texts (masks, lists), their lengths: whatever reveals those reveals much."""
    if hidden.kind != "text":
        return None
    return Hidden(f"length of {hidden.name}", [plain(len(value)) for value in hidden.values])
