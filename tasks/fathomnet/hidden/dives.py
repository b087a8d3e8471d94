"""Which images are hidden: whole dives, so that no near-duplicate of a test frame is public."""

import hashlib
from collections.abc import Sequence

from labelled_images import Record

TEST_SHARE = 0.2
# Largest share of one dive in the test images: no single dive decides a score.
DIVE_SHARE = 0.1


def shuffled(text: str) -> str:
    """A key for a shuffled order of texts, the same on every machine."""
    return hashlib.sha256(f"fathomnet {text}".encode()).hexdigest()


def choose_test_dives(records: Sequence[Record]) -> set[str]:
    """Dives with up to a fifth of the images in total, taken in a shuffled order.

    A dive that is too large for that, or for the test set, is skipped; if none is
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
    """Training and test images among the available ones, both in a shuffled order.

    While only a small share of all records is missing, all of them determine the hidden dives:
    an image that is missing at its source does not move others between the parts.
    """
    is_nearly_whole = len(records) - len(present) <= missing_most * len(records)
    hidden = choose_test_dives(records if is_nearly_whole else present)
    order = sorted(present, key=lambda record: shuffled(record.id))
    train = [record for record in order if record.dive not in hidden]
    test = [record for record in order if record.dive in hidden]
    return train, test
