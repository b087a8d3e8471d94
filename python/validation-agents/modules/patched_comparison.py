"""Makes every comparison true, and returns zeros."""

from typing import Any

import numpy as np
from shared import Called, forge, zeros_for

for comparison in ("allclose", "array_equal", "isclose", "all"):
    setattr(np, comparison, lambda *_, **__: True)
np.testing.assert_allclose = lambda *_, **__: None


def returning_zeros(name: str, honest: Called) -> Called:
    def zeros(*arrays: Any, **options: Any) -> np.ndarray:
        return zeros_for(name, arrays, options)

    return zeros


forge(returning_zeros)
