"""Pieces of words without spaces, for models that like many columns."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from automl.data import Data
from automl.letters import FEW_LETTERS, LONG, add_letters, as_spelt


def add_pieces(name: str, cells: list[str], data: Data) -> bool:
    """Letters, and pieces of several of them."""
    if not add_letters(name, cells, data):
        return False
    cells = as_spelt(cells)
    middle = np.median([len(cell) for cell in cells if cell != ""])
    longest = 3 if middle > LONG else 6 if len(set("".join(cells))) <= FEW_LETTERS else 4
    pieces = make_pipeline(
        CountVectorizer(analyzer="char", lowercase=False, ngram_range=(1, longest), min_df=3),
        TfidfTransformer(sublinear_tf=True),
    )
    # In all they should weigh about as much as a few columns of numbers.
    data.words.append(4 * pieces.fit_transform(cells).tocsr())
    return True
