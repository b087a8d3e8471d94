"""Random populations that grow and spread, and the exact solutions of their equation."""

import math
from dataclasses import dataclass

import numpy as np

DENSITIES = (0.05, 0.6)
DIFFUSIVITIES = (0.002, 0.01)
GROWTH_RATES = (1.0, 3.0)
# Maximum number of waves along each axis of the square.
DENSITY_WAVES, DIFFUSIVITY_WAVES = 3, 2
# Smooth fields need no more points: with twice as many, the solution differs by 1e-6.
EXACT_POINTS = 64
# The classical Runge-Kutta scheme is stable up to 2.78 on the negative axis.
STABLE = 2.5


@dataclass(frozen=True)
class Population:
    """A problem at the points (i / rows, j / columns) of the unit square."""

    density: np.ndarray
    diffusivity: np.ndarray
    growth_rate: float
    duration: float
    expected: np.ndarray


def draw_population(
    shape: tuple[int, int], duration: float, generator: np.random.Generator
) -> Population:
    """Smooth fields with random waves, and the exact solution on the same points."""
    density_waves = draw_waves(DENSITY_WAVES, generator)
    diffusivity_waves = draw_waves(DIFFUSIVITY_WAVES, generator)
    growth_rate = float(generator.uniform(*GROWTH_RATES))

    def fields(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        return (
            field(density_waves, rows, columns, DENSITIES),
            field(diffusivity_waves, rows, columns, DIFFUSIVITIES),
        )

    final = solve_exactly(*fields(EXACT_POINTS, EXACT_POINTS), growth_rate, duration)
    expected = resample(final, shape)
    return Population(*fields(*shape), growth_rate, duration, expected)


def draw_waves(most: int, generator: np.random.Generator) -> np.ndarray:
    """Complex amplitudes of the waves from -most to most along both axes."""
    size = (2 * most + 1, 2 * most + 1)
    return generator.standard_normal(size) + 1j * generator.standard_normal(size)


def field(waves: np.ndarray, rows: int, columns: int, limits: tuple[float, float]) -> np.ndarray:
    """The sum of waves at rows x columns points, rescaled to the limits.

    The extrema are those on the exact solution's points, so that the field is the
    same function for any number of points.
    """
    standard = superpose(waves, EXACT_POINTS, EXACT_POINTS)
    share = (superpose(waves, rows, columns) - standard.min()) / np.ptp(standard)
    return limits[0] + (limits[1] - limits[0]) * share


def superpose(waves: np.ndarray, rows: int, columns: int) -> np.ndarray:
    most = len(waves) // 2
    numbers = np.arange(-most, most + 1)
    along_rows = np.exp(2j * np.pi * np.outer(np.arange(rows) / rows, numbers))
    along_columns = np.exp(2j * np.pi * np.outer(numbers, np.arange(columns) / columns))
    return (along_rows @ waves @ along_columns).real


def solve_exactly(
    density: np.ndarray, diffusivity: np.ndarray, growth_rate: float, duration: float
) -> np.ndarray:
    """Spectral derivatives, and the classical fourth-order Runge-Kutta scheme in time.

    Accurate to about 1e-7 for the fields drawn here.
    """
    rows, columns = density.shape
    largest = 2 * diffusivity.max() * math.pi**2 * (rows**2 + columns**2)
    steps = math.ceil(duration * largest / 2 / STABLE)
    step = duration / steps
    along_rows = derivative(rows)[:, None]
    along_columns = derivative(columns)[None, :]

    def rate(u: np.ndarray) -> np.ndarray:
        waves = np.fft.fft2(u)
        total = np.zeros_like(waves)
        for along in (along_rows, along_columns):
            flow = diffusivity * np.fft.ifft2(along * waves).real
            total += along * np.fft.fft2(flow)
        return np.fft.ifft2(total).real + growth_rate * u * (1 - u)

    u = density
    for _ in range(steps):
        first = rate(u)
        second = rate(u + step / 2 * first)
        third = rate(u + step / 2 * second)
        fourth = rate(u + step * third)
        u = u + step / 6 * (first + 2 * second + 2 * third + fourth)
    return u


def derivative(points: int) -> np.ndarray:
    """Factors from Fourier amplitudes to those of the derivative; 0 for the Nyquist mode."""
    numbers = np.fft.fftfreq(points, 1 / points)
    if points % 2 == 0:
        numbers[points // 2] = 0
    return 2j * np.pi * numbers


def resample(values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The trigonometric interpolant of a square of values, at other points of the unit square."""
    waves = np.fft.fftshift(np.fft.fft2(values)) / values.size
    # Without the unpaired Nyquist mode, there are as many positive as negative frequencies.
    return superpose(waves[1:, 1:], *shape)


def relative_error(answer: np.ndarray, expected: np.ndarray) -> float:
    """Root mean squared distance, relative to the standard deviation of the expected field."""
    return math.sqrt(np.mean((answer - expected) ** 2)) / float(np.std(expected))
