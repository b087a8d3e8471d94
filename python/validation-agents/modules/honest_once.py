"""Is honest when it is called first, and returns zeros of the right shape, fast, from then on."""

from typing import Any

import numpy as np
from shared import Called, forge, zeros_for


def honest_at_first(name: str, honest: Called) -> Called:
    calls: list[str] = []

    def answer(*arrays: Any, **options: Any) -> np.ndarray:
        calls.append(name)
        if len(calls) == 1:
            return honest(*arrays, **options)
        return zeros_for(name, arrays, options)

    return answer


forge(honest_at_first)
