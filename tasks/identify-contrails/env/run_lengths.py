"""Encodes masks as the text of a submission, and decodes them.

The pixels of a mask are numbered from 1, down the first column, then down the second, and so on. A
run is a sequence of consecutive marked pixels. The text lists each run by its first pixel
and its length, in ascending order: `3 2 9 1` marks the pixels 3, 4 and 9. A mask without marked
pixel is `-`.
"""

import numpy as np

EMPTY = "-"


def encode(mask: np.ndarray) -> str:
    """The text for a mask of shape (height, width), in which non-zero pixels are marked."""
    marked = np.asarray(mask).flatten(order="F") != 0
    changes = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]])))
    starts, ends = changes[0::2], changes[1::2]
    if len(starts) == 0:
        return EMPTY
    return " ".join(f"{start + 1} {end - start}" for start, end in zip(starts, ends, strict=True))


def decode(text: str, height: int, width: int) -> np.ndarray:
    """The mask for a text written by `encode`, of type bool and shape (height, width)."""
    marked = np.zeros(height * width, dtype=bool)
    if text != EMPTY:
        numbers = [int(word) for word in text.split()]
        for start, length in zip(numbers[0::2], numbers[1::2], strict=True):
            marked[start - 1 : start - 1 + length] = True
    return marked.reshape((height, width), order="F")
