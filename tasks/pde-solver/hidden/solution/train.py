"""A population that grows and spreads over heterogeneous terrain, vectorised over all cells."""

import math
import time

import numpy as np

SHAPE = (64, 64)
GROWTH_RATE = 2.0
DURATION = 0.4
# Fraction of the largest stable time step of the explicit scheme.
SAFETY = 0.5


def solve(
    density: np.ndarray, diffusivity: np.ndarray, growth_rate: float, duration: float
) -> np.ndarray:
    """Solves du/dt = div(D grad u) + r u (1 - u) on the unit square, periodic along both axes.

    density: u at the start, (rows, columns), float64; the value at [i, j] belongs to the point
        (i / rows, j / columns)
    diffusivity: D at the same points, in squared side lengths per unit time, float64
    growth_rate: r, per unit time
    duration: the time after which u is returned

    Returns u after that time, (rows, columns), float64.
    """
    rows, columns = density.shape
    largest_step = 1 / (2 * diffusivity.max() * (rows**2 + columns**2))
    steps = math.ceil(duration / (SAFETY * largest_step))
    step = duration / steps

    # Between each point and the next along an axis; the border is periodic.
    between_rows = np.pad(diffusivity, ((1, 1), (0, 0)), mode="wrap")
    between_rows = (between_rows[:-1] + between_rows[1:]) / 2 * rows**2 * step
    between_columns = np.pad(diffusivity, ((0, 0), (1, 1)), mode="wrap")
    between_columns = (between_columns[:, :-1] + between_columns[:, 1:]) / 2 * columns**2 * step

    padded = np.pad(density, 1, mode="wrap")
    inner = padded[1:-1, 1:-1]
    down, across = np.empty_like(between_rows), np.empty_like(between_columns)
    change, crowding = np.empty_like(density), np.empty_like(density)
    for _ in range(steps):
        padded[0], padded[-1] = padded[-2], padded[1]
        padded[:, 0], padded[:, -1] = padded[:, -2], padded[:, 1]
        np.subtract(padded[1:, 1:-1], padded[:-1, 1:-1], out=down)
        np.multiply(down, between_rows, out=down)
        np.subtract(padded[1:-1, 1:], padded[1:-1, :-1], out=across)
        np.multiply(across, between_columns, out=across)

        np.subtract(1, inner, out=crowding)
        np.multiply(crowding, step * growth_rate, out=crowding)
        np.multiply(inner, crowding, out=change)
        change += down[1:]
        change -= down[:-1]
        change += across[:, 1:]
        change -= across[:, :-1]
        inner += change
    return inner.copy()


def example(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth example density and diffusivity; those in the evaluation are random."""
    x = 2 * np.pi * np.arange(rows)[:, None] / rows
    y = 2 * np.pi * np.arange(columns)[None, :] / columns
    density = 0.3 + 0.15 * np.sin(x + 2 * y) + 0.1 * np.cos(3 * x - y)
    diffusivity = 0.006 + 0.003 * np.cos(x) * np.sin(2 * y)
    return density, diffusivity


def main() -> None:
    density, diffusivity = example(*SHAPE)

    start = time.perf_counter()
    result = solve(density, diffusivity, GROWTH_RATE, DURATION)
    seconds = time.perf_counter() - start

    print(f"shape: {result.shape}")
    print(f"mean density: {result.mean():.4f}")
    print(f"standard deviation: {result.std():.4f}")
    print(f"validation seconds: {seconds:.4f}")


if __name__ == "__main__":
    main()
