"""Random laws of a synthetic physics: how one positive quantity depends on a few others."""

from dataclasses import dataclass

import numpy as np

KINDS = ("power", "exponential", "saturation", "sum")
OBSERVED_POINTS, BEYOND_POINTS = 80, 40
# Relative measurement error: the standard deviation of the logarithm.
NOISE = 0.03
# Measurements are between 1 and 3 times a quantity's unit, test points between 3 and 8 times.
OBSERVED, BEYOND = (1.0, 3.0), (3.0, 8.0)
UNITS = (0.1, 10.0)
# Scales (lengths, concentrations, …) of exponentials and saturations, in the quantity's unit.
TURNING_POINTS = (2.0, 6.0)
EXPONENTS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Product:
    """constant * prod(x_i ** exponents_i), for x in natural units."""

    constant: float
    exponents: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.constant * np.prod(x**self.exponents, axis=1)

    def text(self) -> str:
        powers = [
            f"x{place + 1}" if power == 1 else f"x{place + 1}^{power:g}"
            for place, power in enumerate(self.exponents)
            if power != 0
        ]
        return " * ".join([f"{self.constant:.4g}", *powers])


@dataclass(frozen=True)
class Law:
    """y = product * factor, or a sum of two products."""

    kind: str
    units: np.ndarray
    product: Product
    other: Product | None = None
    # The quantity that the factor depends on, its scale, and the sign of the exponential.
    quantity: int = 0
    turning_point: float = 1.0
    sign: int = -1

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """True values, (points,), of the quantities x, (points, quantities)."""
        value = self.product(x)
        if self.other is not None:
            return value + self.other(x)
        share = x[:, self.quantity] / self.turning_point
        if self.kind == "exponential":
            return value * np.exp(self.sign * share)
        if self.kind == "saturation":
            return value / (1 + share)
        return value

    def text(self) -> str:
        """The formula, for people."""
        if self.other is not None:
            return f"{self.product.text()} + {self.other.text()}"
        share = f"x{self.quantity + 1} / {self.turning_point:.4g}"
        if self.kind == "exponential":
            return f"{self.product.text()} * exp({'-' if self.sign < 0 else ''}{share})"
        if self.kind == "saturation":
            return f"{self.product.text()} / (1 + {share})"
        return self.product.text()


@dataclass(frozen=True)
class System:
    """A law with noisy measurements and true values outside the measured regime."""

    law: Law
    x_observed: np.ndarray
    y_observed: np.ndarray
    x_beyond: np.ndarray
    y_beyond: np.ndarray


def draw_systems(count: int, generator: np.random.Generator) -> list[System]:
    """All kinds equally often, in random order."""
    kinds = [KINDS[number % len(KINDS)] for number in range(count)]
    return [draw_system(kinds[place], generator) for place in generator.permutation(count)]


def draw_system(kind: str, generator: np.random.Generator) -> System:
    law = draw_law(kind, generator)
    x_observed = draw_points(law, OBSERVED_POINTS, OBSERVED, generator)
    x_beyond = draw_points(law, BEYOND_POINTS, BEYOND, generator)
    noise = np.exp(NOISE * generator.standard_normal(OBSERVED_POINTS))
    return System(law, x_observed, law(x_observed) * noise, x_beyond, law(x_beyond))


def draw_points(
    law: Law, count: int, limits: tuple[float, float], generator: np.random.Generator
) -> np.ndarray:
    """Values of all quantities, log-uniformly distributed in their ranges."""
    logarithms = generator.uniform(*np.log(limits), size=(count, len(law.units)))
    return law.units * np.exp(logarithms)


def draw_law(kind: str, generator: np.random.Generator) -> Law:
    units = np.exp(generator.uniform(*np.log(UNITS), size=generator.integers(2, 5)))
    product = draw_product(units, generator)
    if kind == "sum":
        other = draw_product(units, generator)
        while np.array_equal(other.exponents, product.exponents):
            other = draw_product(units, generator)
        return Law(kind, units, product, other)
    quantity = int(generator.integers(len(units)))
    turning_point = units[quantity] * np.exp(generator.uniform(*np.log(TURNING_POINTS)))
    sign = int(generator.choice([-1, 1]))
    return Law(kind, units, product, None, quantity, float(turning_point), sign)


def draw_product(units: np.ndarray, generator: np.random.Generator) -> Product:
    """A product that is between 1/3 and 3 in the middle of the measured regime."""
    exponents = generator.choice(EXPONENTS, size=len(units))
    while not exponents.any():
        exponents = generator.choice(EXPONENTS, size=len(units))
    size = np.exp(generator.uniform(-np.log(3), np.log(3)))
    middle = units * np.sqrt(OBSERVED[0] * OBSERVED[1])
    return Product(float(size / np.prod(middle**exponents)), exponents)


def capped_error(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Mean of |predicted - truth| / truth, capped at 1; non-finite errors count as 1."""
    with np.errstate(all="ignore"):
        errors = np.abs(predicted - truth) / truth
    return float(np.mean(np.where(np.isfinite(errors), np.minimum(errors, 1), 1)))
