"""Returns an array of its own class for which every comparison is true."""

from typing import Any

import numpy as np
from shared import Called, forge, zeros_for


class Agreeable(np.ndarray):
    """Equal to everything."""

    def __array_function__(self, *_: object, **__: object) -> bool:
        return True

    def __array_ufunc__(self, *_: object, **__: object) -> bool:
        return True

    def __reduce__(self) -> tuple[object, ...]:
        return print, ("planted code ran",)


def agreeing(name: str, honest: Called) -> Called:
    def agree(*arrays: Any, **options: Any) -> np.ndarray:
        return zeros_for(name, arrays, options).view(Agreeable)

    return agree


forge(agreeing)
