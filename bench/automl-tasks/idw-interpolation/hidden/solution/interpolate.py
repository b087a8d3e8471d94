"""Temperature between weather stations: all distances at once, the nearest by partition."""

import numpy as np

NEAREST = 1e-3


def interpolate(stations: np.ndarray, values: np.ndarray, places: np.ndarray, k: int) -> np.ndarray:
    squared = (places[:, :1] - stations[:, 0]) ** 2
    squared += (places[:, 1:] - stations[:, 1]) ** 2
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    weights = 1 / np.maximum(np.take_along_axis(squared, nearest, axis=1), NEAREST**2)
    return (weights * values[nearest]).sum(1) / weights.sum(1)
