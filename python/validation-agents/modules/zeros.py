"""Returns zeros of the right shape, fast."""

from typing import Any

import numpy as np
from shared import Called, forge, zeros_for


def returning_zeros(name: str, honest: Called) -> Called:
    def zeros(*arrays: Any, **options: Any) -> np.ndarray:
        return zeros_for(name, arrays, options)

    return zeros


forge(returning_zeros)
