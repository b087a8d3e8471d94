"""Words without spaces: sequences, notations of molecules, codes."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from automl.data import Data

LONG = 200
"""Longer words are too many letters to look at their pieces of four."""

FEW_LETTERS = 6
"""Of so few different letters, as of DNA, there are not many different pieces of six."""

SHORT = 60
ENDS = 8
"""Of words of different lengths up to SHORT, how many letters at each end have a place."""


def add_letters(name: str, cells: list[str], data: Data) -> bool:
    """Pieces of words; what stands in each place, if all are equally long, or near the ends."""
    known = [cell for cell in cells if cell != ""]
    letters = Counter("".join(known))
    middle = np.median([len(cell) for cell in known])
    is_number = sum(cell.replace(".", "", 1).lstrip("+-").isdigit() for cell in known)
    if is_number > 0.3 * len(known) or middle < 5 or len(set(known)) < 0.5 * len(known):
        return False
    if sum(" " in cell for cell in known) > 0.05 * len(known) or len(letters) > 100:
        return False
    kinds = {letter.lower() for letter in letters}
    if middle < 10 and len(set(known)) > 0.98 * len(known) and len(kinds) > 30:
        return False
    count_letters(name, cells, data)
    longest = 3 if middle > LONG else 6 if len(letters) <= FEW_LETTERS else 4
    pieces = make_pipeline(
        CountVectorizer(analyzer="char", lowercase=False, ngram_range=(1, longest), min_df=3),
        TfidfTransformer(sublinear_tf=True),
    )
    # In all they should weigh about as much as a few columns of numbers.
    data.words.append(4 * pieces.fit_transform(cells).tocsr())
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


def count_letters(name: str, cells: list[str], data: Data) -> None:
    """How many there are of each frequent letter, pair and kind of letters."""
    counter = CountVectorizer(analyzer="char", lowercase=False, ngram_range=(1, 2), min_df=0.02)
    counter.set_params(max_features=150)
    counts = counter.fit_transform(cells).toarray().astype(float)
    for piece, column in zip(counter.get_feature_names_out(), counts.T, strict=True):
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
