"""Predicts how a system behaves outside the regime in which it was measured.

`predict` fits a polynomial of degree 2 to the measurements: it describes them well, but
extrapolates badly, since the underlying laws are not polynomials.
"""

import csv
from pathlib import Path

import numpy as np

DATA = Path("data")
DEGREE = 2


def predict(x_train: np.ndarray, y_train: np.ndarray, x_test: np.ndarray) -> np.ndarray:
    """Predicts y outside the measured regime.

    x_train: measured quantities, (measurements, quantities), float64, positive
    y_train: measured y, (measurements,), float64, positive, with noise
    x_test: quantities for which to predict y, (points, quantities), float64

    Returns y for each point, (points,), float64.
    """
    scale = x_train.max(axis=0)
    coefficients = np.linalg.lstsq(terms(x_train / scale), y_train, rcond=None)[0]
    return terms(x_test / scale) @ coefficients


def terms(x: np.ndarray) -> np.ndarray:
    """A constant, the quantities, and products of up to DEGREE of them, one column each."""
    columns = [(np.ones(len(x)), 0)]
    finished = []
    for _ in range(DEGREE):
        finished += columns
        columns = [
            (column * x[:, place], place)
            for column, first in columns
            for place in range(first, x.shape[1])
        ]
    return np.column_stack([column for column, _ in finished + columns])


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
