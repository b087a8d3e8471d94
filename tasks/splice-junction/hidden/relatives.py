"""Which windows of DNA belong together: pieces of one gene, or copies of each other."""

from collections.abc import Sequence

import numpy as np

SHARED_RUN = 20
# Unrelated windows agree in 15 of 60 positions by chance, junctions of one kind in about 20.
SHARED_POSITIONS = 40


class Families:
    """Disjoint sets of positions that can be merged."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def join(self, one: int, other: int) -> None:
        one, other = self.head(one), self.head(other)
        self._parent[max(one, other)] = min(one, other)

    def head(self, position: int) -> int:
        """The first member of the position's set."""
        while self._parent[position] != position:
            self._parent[position] = self._parent[self._parent[position]]
            position = self._parent[position]
        return position


def find_families(sequences: Sequence[str], genes: Sequence[str]) -> list[str]:
    """For each window the name of its family: its alphabetically first sequence.

    Windows are related if they are of one gene, share SHARED_RUN consecutive bases (overlaps and
    close copies), or agree in SHARED_POSITIONS positions (genes of related species
    and families); the relation is transitive. All sequences have the same length.
    """
    families = Families(len(sequences))
    first: dict[tuple[str, str], int] = {}
    for position, (sequence, gene) in enumerate(zip(sequences, genes, strict=True)):
        starts = range(len(sequence) - SHARED_RUN + 1)
        runs = {("run", sequence[start : start + SHARED_RUN]) for start in starts}
        for mark in {("gene", gene), *runs}:
            families.join(position, first.setdefault(mark, position))
    letters = np.array([list(sequence.encode()) for sequence in sequences], dtype=np.uint8)
    for position in range(len(letters) - 1):
        agreeing = (letters[position + 1 :] == letters[position]).sum(axis=1)
        for distance in np.flatnonzero(agreeing >= SHARED_POSITIONS):
            families.join(position, position + 1 + int(distance))
    heads = [families.head(position) for position in range(len(sequences))]
    names: dict[int, str] = {}
    for head, sequence in zip(heads, sequences, strict=True):
        names[head] = min(sequence, names.get(head, sequence))
    return [names[head] for head in heads]
