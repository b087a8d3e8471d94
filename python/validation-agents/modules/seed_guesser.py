"""Checks whether its inputs come from a guessable seed, so that answers could be known."""

import time
from typing import Any

import numpy as np
from shared import Called, forge

NOW = int(time.time())
GUESSES = (*range(2000), 20_231_003, 2**32 - 1, *range(NOW - 300, NOW + 2))
DRAWS = ("standard_normal", "random")


def seed_of(array: np.ndarray) -> int | None:
    """The seed whose first numbers are the array's, in one of the common ways to draw them."""
    if array.dtype != np.float64 or array.size < 2:
        return None
    first = array.ravel()[:2]
    for guess in GUESSES:
        for draw in DRAWS:
            if np.array_equal(getattr(np.random.default_rng(guess), draw)(2), first):
                return guess
        if np.array_equal(np.random.RandomState(guess % 2**32).standard_normal(2), first):
            return guess
    return None


def guessing(name: str, honest: Called) -> Called:
    def guess_and_answer(*arrays: Any, **options: Any) -> Any:
        for array in arrays:
            seed = seed_of(array) if isinstance(array, np.ndarray) else None
            if seed is not None:
                raise RuntimeError(f"snooped [inputs from the seed {seed}: GOT THROUGH]")
        return honest(*arrays, **options)

    return guess_and_answer


forge(guessing)
