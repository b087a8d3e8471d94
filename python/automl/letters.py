"""Words without spaces: sequences, notations of molecules, codes."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from automl.data import Data

LONGER_THAN_CODES = 15
FEWEST_LONG = 20
"""Long words may occur in many rows, as those of joined tables do."""
LONG = 200
"""Longer words are too many letters to look at their pieces of four."""
FEW_LETTERS = 6
"""Of so few different letters, as of DNA, there are not many different pieces of six."""
SHORT = 60
ENDS = 8
"""Of words of different lengths up to SHORT, how many letters at each end have a place."""
NUCLEOTIDES = set("ACGTUN")
MARKED = re.compile(r"[A-Z]?(?:\[[^\[\]]{1,20}\]|\((?:[a-z]{1,20}|[-+][\d.]+)\))")
"""A letter with what is said of it, as an oxidised residue: `M[+16]`, `M(ox)`."""
CAPITALS = re.compile(r"[A-Z._-]+")
UNUSED = 0xE000
"""From here on, no script uses these letters."""
LEAST_WITH = 0.02
MOST_COUNTED = 150
"""The share of words that must have a piece that is counted, and how many are."""


def add_letters(name: str, cells: list[str], data: Data) -> bool:
    """How many of each letter; what stands in each place of equal lengths, or near the ends."""
    cells = as_spelt(cells)
    known = [cell for cell in cells if cell != ""]
    letters = Counter("".join(known))
    middle = np.median([len(cell) for cell in known])
    is_number = sum(cell.replace(".", "", 1).lstrip("+-").isdigit() for cell in known)
    varied = 0.5 * len(known) if middle < LONGER_THAN_CODES else FEWEST_LONG
    if is_number > 0.3 * len(known) or middle < 5 or len(set(known)) < varied:
        return False
    spaced = 0.05 if middle < LONGER_THAN_CODES else 0.25
    if sum(" " in cell for cell in known) > spaced * len(known) or len(letters) > 100:
        return False
    kinds = {letter.lower() for letter in letters}
    if middle < 10 and len(set(known)) > 0.98 * len(known) and len(kinds) > 30:
        return False
    count_letters(name, cells, data, 3 if len(letters) <= FEW_LETTERS else 2)
    lengths = {len(cell) for cell in known}
    places: Iterable[int] = ()
    if len(letters) <= 30 and len(lengths) == 1 and middle <= LONG:
        places = range(int(middle))
    elif len(letters) <= 30 and middle <= SHORT:
        places = range(-ENDS, ENDS)
    for place in places:
        column = [cell[place] if -len(cell) <= place < len(cell) else "" for cell in cells]
        data.names[f"{name} letter {place}"] = np.array(column, dtype=object)
    return True


def as_spelt(cells: list[str]) -> list[str]:
    """DNA and RNA in one way, which pipelines write in several; a marked letter as one letter."""
    bare = [cell for cell in (MARKED.sub("", cell) for cell in cells) if CAPITALS.fullmatch(cell)]
    if any(map(MARKED.search, cells)) and len(bare) >= 0.9 * sum(map(bool, cells)):
        marked = sorted({each for cell in cells for each in MARKED.findall(cell)})
        letters = {each: chr(UNUSED + place) for place, each in enumerate(marked)}
        cells = [MARKED.sub(lambda found: letters[found[0]], cell) for cell in cells]
    if {letter.upper() for cell in cells for letter in cell} <= NUCLEOTIDES:
        return [cell.upper().replace("U", "T") for cell in cells]
    return cells


def count_letters(name: str, cells: list[str], data: Data, longest: int) -> None:
    """How many there are of each frequent piece of so many letters, and of each kind of letters."""
    counts = [
        Counter(
            cell[start : start + size]
            for size in range(1, longest + 1)
            for start in range(len(cell) - size + 1)
        )
        for cell in cells
    ]
    often = Counter(piece for count in counts for piece in count)
    for piece, times in often.most_common(MOST_COUNTED):
        if times >= LEAST_WITH * len(cells):
            column = np.array([count[piece] for count in counts], float)
            data.numbers[f"{name} count of {piece}"] = column
    kinds = {
        "length": len,
        "digits": lambda cell: sum(map(str.isdigit, cell)),
        "capitals": lambda cell: sum(map(str.isupper, cell)),
        "small letters": lambda cell: sum(map(str.islower, cell)),
        "brackets": lambda cell: sum(letter in "([{" for letter in cell),
        "different letters": lambda cell: len(set(cell)),
        "highest digit": lambda cell: int(max([*cell, "0"], key="0123456789".find)),
        "longest run": lambda cell: max((len(list(run)) for _, run in groupby(cell)), default=0),
    }
    for kind, count in kinds.items():
        data.numbers[f"{name} {kind}"] = np.array([count(cell) for cell in cells], float)
