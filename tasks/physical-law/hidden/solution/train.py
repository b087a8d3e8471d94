"""Predicts how a system behaves outside the regime in which it was measured, by finding its law.

`predict` fits every kind of law to the logarithms of the measurements, with exponents that are
multiples of one half, and extrapolates with the one selected by the BIC.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares, minimize_scalar, nnls

DATA = Path("data")
LARGEST_EXPONENT = 2.0
# Initial turning points of a saturation, as shares of the largest value measured.
TURNING_POINTS = np.geomspace(0.3, 4, 25)
STARTS = 8


@dataclass(frozen=True)
class Fit:
    """A law, the sum of its squared residuals in the logarithm, and its number of parameters."""

    law: Callable[[np.ndarray], np.ndarray]
    residual: float
    numbers: int

    def cost(self, points: int) -> float:
        """Bayesian information criterion (Schwarz, 1978)."""
        return points * np.log(self.residual / points) + self.numbers * np.log(points)


def predict(x_train: np.ndarray, y_train: np.ndarray, x_test: np.ndarray) -> np.ndarray:
    """Predicts y outside the measured regime.

    x_train: measured quantities, (measurements, quantities), float64, positive
    y_train: measured y, (measurements,), float64, positive, with noise
    x_test: quantities for which to predict y, (points, quantities), float64

    Returns y for each point, (points,), float64.
    """
    scale = x_train.max(axis=0)
    x = x_train / scale
    fits = [fit_factor(x, y_train, None, 0), *fit_exponentials(x, y_train)]
    fits += [*fit_saturations(x, y_train), fit_sum(x, y_train)]
    best = min(fits, key=lambda fit: fit.cost(len(y_train)))
    return best.law(x_test / scale)


def rounded(exponents: np.ndarray) -> np.ndarray:
    return np.clip(np.round(2 * exponents) / 2, -LARGEST_EXPONENT, LARGEST_EXPONENT)


def powers(x: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    return np.prod(x**exponents, axis=1)


def fit_factor(
    x: np.ndarray, y: np.ndarray, factor: Callable[[np.ndarray], np.ndarray] | None, numbers: int
) -> Fit:
    """A product of powers times a known factor with the given number of parameters."""
    known = np.ones(len(x)) if factor is None else factor(x)
    logarithms = np.log(y / known)
    design = np.column_stack([np.ones(len(x)), np.log(x)])
    exponents = rounded(np.linalg.lstsq(design, logarithms, rcond=None)[0][1:])
    left = logarithms - np.log(x) @ exponents
    constant = np.exp(left.mean())

    def law(at: np.ndarray) -> np.ndarray:
        return constant * powers(at, exponents) * (1 if factor is None else factor(at))

    return Fit(law, float(np.sum((left - left.mean()) ** 2)), 1 + len(exponents) + numbers)


def fit_exponentials(x: np.ndarray, y: np.ndarray) -> Iterator[Fit]:
    """Products of powers times exp(rate * x_i), for every quantity."""
    for place in range(x.shape[1]):
        design = np.column_stack([np.ones(len(x)), np.log(x), x[:, place]])
        found = np.linalg.lstsq(design, np.log(y), rcond=None)[0]
        exponents = rounded(found[1:-1])
        # Once more, with the exponents fixed.
        left = np.log(y) - np.log(x) @ exponents
        rate = np.linalg.lstsq(design[:, [0, -1]], left, rcond=None)[0][1]

        def factor(at: np.ndarray, place: int = place, rate: float = rate) -> np.ndarray:
            return np.exp(rate * at[:, place])

        yield fit_factor(x, y, factor, 1)


def fit_saturations(x: np.ndarray, y: np.ndarray) -> Iterator[Fit]:
    """Products of powers divided by 1 + x_i / turning point, for every quantity."""
    for place in range(x.shape[1]):

        def fit_at(logarithm: float, place: int = place) -> Fit:
            return fit_factor(x, y, lambda at: 1 / (1 + at[:, place] / np.exp(logarithm)), 1)

        trials = np.log(TURNING_POINTS)
        best = min(trials, key=lambda trial: fit_at(trial).residual)
        step = trials[1] - trials[0]
        refined = minimize_scalar(
            lambda trial: fit_at(trial).residual,
            bounds=(best - step, best + step),
            method="bounded",
        )
        yield min(fit_at(best), fit_at(refined.x), key=lambda fit: fit.residual)


def fit_sum(x: np.ndarray, y: np.ndarray) -> Fit:
    """Two products of powers: by gradient with real exponents, then among multiples of one half."""
    generator = np.random.default_rng(0)
    logarithms, quantities = np.log(x), x.shape[1]

    def residuals(numbers: np.ndarray) -> np.ndarray:
        first, second = numbers.reshape(2, -1)
        return np.logaddexp(
            first[0] + logarithms @ first[1:], second[0] + logarithms @ second[1:]
        ) - np.log(y)

    candidates = []
    for _ in range(STARTS):
        start = generator.uniform(-LARGEST_EXPONENT, LARGEST_EXPONENT, (2, 1 + quantities))
        start[:, 0] = np.log(y).mean() - np.log(2)
        try:
            found = least_squares(residuals, start.ravel(), method="lm", max_nfev=300)
        except ValueError:
            continue
        candidates.append(found)
    candidates.sort(key=lambda found: found.cost)
    tried = [descend(x, y, rounded(found.x.reshape(2, -1)[:, 1:])) for found in candidates[:3]]
    exponents, constants, residual = min(tried, key=lambda outcome: outcome[2])

    def law(at: np.ndarray) -> np.ndarray:
        return sum(c * powers(at, e) for c, e in zip(constants, exponents, strict=True))

    return Fit(law, residual, 2 + 2 * quantities)


def descend(
    x: np.ndarray, y: np.ndarray, exponents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Changes one exponent at a time while that helps; returns constants and residual, too."""
    constants, residual = constants_of(x, y, exponents)
    while True:
        neighbours = []
        for place, change in product(np.ndindex(*exponents.shape), (-0.5, 0.5)):
            neighbour = exponents.copy()
            neighbour[place] += change
            neighbours.append((neighbour, *constants_of(x, y, neighbour)))
        best = min(neighbours, key=lambda outcome: outcome[2])
        if best[2] >= residual:
            return exponents, constants, residual
        exponents, constants, residual = best


def constants_of(x: np.ndarray, y: np.ndarray, exponents: np.ndarray) -> tuple[np.ndarray, float]:
    """Non-negative factors by relative least squares, and the residual in logarithms."""
    design = np.column_stack([powers(x, one) / y for one in exponents])
    constants = nnls(design, np.ones(len(y)))[0]
    with np.errstate(divide="ignore"):
        return constants, float(np.sum(np.log(design @ constants) ** 2))


def error_of(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Mean of |predicted - truth| / truth, capped at 1."""
    return float(np.minimum(np.abs(predicted - truth) / truth, 1).mean())


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def main() -> None:
    with (DATA / "laws.csv").open(newline="") as file:
        examples = list(csv.DictReader(file))
    errors: dict[str, list[float]] = {}
    for example in examples:
        x_train, y_train = read(DATA / f"{example['system']}-observed.csv")
        x_test, y_test = read(DATA / f"{example['system']}-beyond.csv")
        error = error_of(predict(x_train, y_train, x_test), y_test)
        errors.setdefault(example["kind"], []).append(error)

    for kind, found in sorted(errors.items()):
        print(f"{kind}: {np.mean(found):.4f} over {len(found)} laws")
    print(f"validation error: {np.mean([e for found in errors.values() for e in found]):.4f}")


if __name__ == "__main__":
    main()
