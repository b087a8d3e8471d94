"""Splits that keep groups of rows together, and that depend on the data alone."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Sequence


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def hold_out_groups(groups: Sequence[str], share: float, largest_share: float = 1.0) -> list[bool]:
    """Which rows are hidden: whole groups, until at least `share` of the rows is.

    `groups` names the group of each row. Groups come in the order of a hash of their name; those
    with more than `largest_share` of the rows are never hidden.
    """
    sizes = Counter(groups)
    hidden: set[str] = set()
    rows = 0
    for name in sorted(sizes, key=_digest):
        if rows >= share * len(groups):
            break
        if sizes[name] <= largest_share * len(groups):
            hidden.add(name)
            rows += sizes[name]
    return [group in hidden for group in groups]


def hold_out_of_each(labels: Sequence[str], contents: Sequence[str], share: float) -> list[bool]:
    """Which rows are hidden: `share` of every class, rounded half up, by a hash of the content."""
    members: dict[str, list[int]] = defaultdict(list)
    for position, label in enumerate(labels):
        members[label].append(position)
    hidden: set[int] = set()
    for positions in members.values():
        ordered = sorted(positions, key=lambda position: _digest(contents[position]))
        hidden.update(ordered[: math.floor(share * len(positions) + 0.5)])
    return [position in hidden for position in range(len(labels))]
