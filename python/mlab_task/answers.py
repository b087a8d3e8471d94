"""Turns what submitted code returned into the array that the grader asked for."""

import numpy as np

from mlab_task.frames import RawArray
from mlab_task.problems import Rejected


def only_array(
    answer: tuple[RawArray, ...], function: str, dtype: str, shape: tuple[int, ...]
) -> np.ndarray:
    """The only array of the answer. Its values are not checked: they may be NaN or infinite.

    :param dtype: such as `<f8`
    :raises Rejected: wrong_output or wrong_shape for an array that is not as requested
    """
    if len(answer) != 1:
        raise Rejected("wrong_output", f"{function} returned {len(answer)} arrays instead of one")
    (raw,) = answer
    if raw.dtype != dtype:
        wanted, given = np.dtype(dtype).name, np.dtype(raw.dtype).name
        raise Rejected("wrong_output", f"{function} returned {given} instead of {wanted}")
    if raw.shape != shape:
        raise Rejected("wrong_shape", f"{function} returned the shape {raw.shape}, not {shape}")
    return np.frombuffer(raw.data, dtype=raw.dtype).reshape(raw.shape)
