"""Reads a submitted .npy file, which may claim anything in its header."""

import io

import numpy as np
from numpy.lib import format as npy

from mlab_task.problems import Rejected

NUMBERS = "biuf"


def checked_array(content: bytes, path: str, shape: tuple[int, ...]) -> np.ndarray:
    """The finite numbers of a .npy file, in the shape that is asked for.

    :raises Rejected: unreadable, wrong_shape, not_a_number or not_finite
    """
    file = io.BytesIO(content)
    try:
        version = npy.read_magic(file)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        given, _, dtype = read_header(file)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise Rejected("unreadable", f"{path}: not an array in the npy format: {error}") from None
    if given != shape:
        raise Rejected("wrong_shape", f"{path}: has the shape {given}, not {shape}")
    if dtype.kind not in NUMBERS:
        raise Rejected("not_a_number", f"{path}: contains {dtype}, not numbers")
    file.seek(0)
    try:
        array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Rejected("unreadable", f"{path}: shorter than its header says: {error}") from None
    if not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise Rejected("not_finite", f"{path}: {count:,} numbers are NaN or infinite")
    return array
