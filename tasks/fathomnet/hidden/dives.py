"""Which images are hidden: whole dives, so that no near-copy of a test frame is among the rest."""

import hashlib
from collections.abc import Sequence

from labelled_images import Record

TEST_SHARE = 0.2
# Of the test images, for one dive: no single dive decides a score.
DIVE_SHARE = 0.1


def shuffled(text: str) -> str:
    """A key that sorts texts in an order that says nothing of them, the same on every machine."""
    return hashlib.sha256(f"fathomnet {text}".encode()).hexdigest()


def choose_test_dives(records: Sequence[Record]) -> set[str]:
    """Dives that hold up to a fifth of the images together, taken in a shuffled order.

    A dive that is too large for that, or would be much of the test, is passed over; where none is
    small enough, the smallest is taken.
    """
    sizes: dict[str, int] = {}
    for record in records:
        sizes[record.dive] = sizes.get(record.dive, 0) + 1
    order = sorted(sizes, key=shuffled)
    room = int(TEST_SHARE * len(records))
    most = DIVE_SHARE * room
    chosen = set()
    for dive in order:
        if sizes[dive] <= min(room, most):
            chosen.add(dive)
            room -= sizes[dive]
    return chosen or {min(order, key=lambda dive: sizes[dive])}


def split(
    records: Sequence[Record], present: Sequence[Record], missing_most: float
) -> tuple[list[Record], list[Record]]:
    """Training and test images among those that are present, both in a shuffled order.

    While only a small share of all records is missing, all of them decide which dives are hidden:
    an image that is gone at its source moves no other from one part to the other.
    """
    is_nearly_whole = len(records) - len(present) <= missing_most * len(records)
    hidden = choose_test_dives(records if is_nearly_whole else present)
    order = sorted(present, key=lambda record: shuffled(record.id))
    train = [record for record in order if record.dive not in hidden]
    test = [record for record in order if record.dive in hidden]
    return train, test
