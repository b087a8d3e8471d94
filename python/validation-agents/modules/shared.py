"""What forged modules have in common.

A forged module is the starter's code, then this, then one of the files beside this one, all in one
file: only one file is submitted. `DEFINED` is filled in with the functions that a grader calls.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

DEFINED: list[str] = []
Called = Callable[..., Any]
HONEST: dict[str, Called] = {name: globals()[name] for name in DEFINED}


def forge(make: Callable[[str, Called], Called]) -> None:
    """Replaces every honest function by another one."""
    for name, honest in HONEST.items():
        globals()[name] = make(name, honest)


def shapes_in(arrays: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(array.shape for array in arrays if isinstance(array, np.ndarray))


def zeros_convolved(images: Any, kernels: Any, stride: int, padding: int) -> np.ndarray:
    rows = (images.shape[1] + 2 * padding - kernels.shape[0]) // stride + 1
    columns = (images.shape[2] + 2 * padding - kernels.shape[1]) // stride + 1
    return np.zeros((len(images), rows, columns, kernels.shape[3]))


# For functions whose answer has another size than their first argument.
ZEROS: dict[str, Called] = {
    "convolve": zeros_convolved,
    "predict": lambda *arrays: np.zeros(len(arrays[-1])),
    "next_token_logits": lambda tokens: np.zeros(
        (len(tokens), globals()["SETTINGS"].vocabulary), dtype="f4"
    ),
}


def zeros_for(name: str, arrays: tuple[Any, ...], options: dict[str, Any]) -> np.ndarray:
    """Zeros in the shape of the right answer; one zero if no array is given."""
    if name in ZEROS:
        return ZEROS[name](*arrays, **options)
    return np.zeros_like(arrays[0]) if arrays else np.zeros(1)
