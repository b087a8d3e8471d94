"""What rows that only their positions pair would tell about each other anyway.

Two sorted columns determine each other, whatever they are about; so do long runs of equal values.
"""

from collections.abc import Iterator, Sequence

from relations import Relation, relate
from shown import sorting_keys


def beyond_position(
    found: Relation, hidden: Sequence[str], kind: str, seen: Sequence[str], bits: float
) -> float:
    """How much of what the position leaves open the column tells; 1 is everything.

    :param hidden: in the order in which the rows of the column `seen` lie
    """
    others = (relate(hidden, kind, other, bits) for other in by_position(seen))
    known = max((other.strength for other in others if other is not None), default=0.0)
    known = max(0.0, known)
    return 0.0 if known >= 1 else (found.strength - known) / (1 - known)


def by_position(seen: Sequence[str]) -> Iterator[list[str]]:
    """Columns that tell nothing but the position: the row's number, and the same values sorted.

    The number alone would not do: what is coarser can agree better with values that are nearly
    sorted, since rows with equal values are not compared.
    """
    yield [str(place) for place in range(len(seen))]
    keys = sorting_keys(seen)
    rising = [seen[place] for place in sorted(range(len(seen)), key=keys.__getitem__)]
    yield rising
    yield rising[::-1]
