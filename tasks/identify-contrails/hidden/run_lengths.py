"""Reads the untrusted run lengths of a submission, and scores them as masks."""

from collections.abc import Iterator

import numpy as np

EMPTY = "-"
# Kaggle's competition adds it to numerator and denominator, so that two empty masks score 1.
DICE_EPSILON = 1e-6
LONGEST_WORD = 12


class BadRuns(ValueError):
    """A text is not a list of runs; the message says why."""


def decode_runs(text: str, height: int, width: int) -> np.ndarray:
    """The mask for a text such as `3 2 9 1`, of type bool and shape (height, width).

    Pixels are numbered from 1 down the columns. Runs must ascend and may touch, not overlap.

    :raises BadRuns: the text is anything else
    """
    marked = np.zeros(height * width, dtype=bool)
    if text != EMPTY:
        for start, end in _runs(text, height * width):
            marked[start:end] = True
    return marked.reshape((height, width), order="F")


def _runs(text: str, pixels: int) -> Iterator[tuple[int, int]]:
    """First pixel, from 0, and the one after the last, of each run."""
    words = text.split(" ")
    if text == "":
        raise BadRuns(f"empty: a mask without marked pixels is {EMPTY}")
    if len(words) % 2 == 1:
        raise BadRuns("an odd number of words: each run has two")
    free = 0
    for place in range(0, len(words), 2):
        first, length = _whole_number(words[place]), _whole_number(words[place + 1])
        number = place // 2 + 1
        if first < 1:
            raise BadRuns(f"run {number} starts at 0: the first pixel is 1")
        if length < 1:
            raise BadRuns(f"run {number} has no pixels")
        if first - 1 < free:
            raise BadRuns(f"run {number} starts before the previous one ends")
        free = first - 1 + length
        if free > pixels:
            raise BadRuns(f"run {number} ends after the last of {pixels:,} pixels")
        yield first - 1, free


def _whole_number(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or len(word) > LONGEST_WORD:
        raise BadRuns("a word that is not an integer, or too large")
    return int(word)


def encode_runs(mask: np.ndarray) -> str:
    """The text that `decode_runs` reads, for a mask of shape (height, width)."""
    marked = mask.flatten(order="F").astype(np.int8)
    steps = np.diff(marked, prepend=0, append=0)
    firsts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    pairs = np.stack([firsts + 1, ends - firsts], axis=1)
    return " ".join(map(str, pairs.ravel().tolist())) or EMPTY


def dice(truth: np.ndarray, prediction: np.ndarray) -> float:
    """(2 |A and B| + e) / (|A| + |B| + e) of two masks of bools, from about 0 to 1."""
    overlap = 2 * int(np.count_nonzero(truth & prediction))
    sizes = int(np.count_nonzero(truth)) + int(np.count_nonzero(prediction))
    return (overlap + DICE_EPSILON) / (sizes + DICE_EPSILON)
