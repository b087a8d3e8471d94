"""Makes up wafer maps: 1,500 public ones with a label, 1,000 hidden."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_table

SIZE, TRAIN, TEST = 16, 1500, 1000
PATTERNS = ["clear", "centre", "donut", "rim", "scratch", "spot"]
ROWS, COLUMNS = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
RADIUS = np.hypot(ROWS, COLUMNS)


def bump(distance: np.ndarray, width: float) -> np.ndarray:
    return np.exp(-0.5 * (distance / width) ** 2)


def pattern(name: str, rng: np.random.Generator) -> np.ndarray:
    off_row, off_column = rng.normal(0, 0.8, 2)
    radius = np.hypot(ROWS - off_row, COLUMNS - off_column)
    if name == "centre":
        return bump(radius, rng.uniform(1.4, 2.4))
    if name == "donut":
        return bump(radius - rng.uniform(3.0, 4.6), rng.uniform(0.7, 1.1))
    if name == "rim":
        angle = np.arctan2(ROWS, COLUMNS) - rng.uniform(-np.pi, np.pi)
        covered = np.cos(angle) > np.cos(rng.uniform(1.0, np.pi))
        return bump(RADIUS - 6.8, 0.7) * covered
    if name == "scratch":
        angle = rng.uniform(0, np.pi)
        across = ROWS * np.cos(angle) - COLUMNS * np.sin(angle) - rng.uniform(-3.5, 3.5)
        along = ROWS * np.sin(angle) + COLUMNS * np.cos(angle) - rng.uniform(-2, 2)
        across += rng.uniform(-0.04, 0.04) * along**2
        return bump(across, 0.55) * (np.abs(along) < rng.uniform(3, 6))
    if name == "spot":
        angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(3.2, 5.5)
        return bump(np.hypot(ROWS - far * np.sin(angle), COLUMNS - far * np.cos(angle)), rng.uniform(1.0, 1.7))
    return np.zeros((SIZE, SIZE))


def wafer(name: str, rng: np.random.Generator) -> np.ndarray:
    base = rng.uniform(60, 110) + rng.normal(0, 1.2) * ROWS + rng.normal(0, 1.2) * COLUMNS
    image = base + rng.uniform(45, 95) * pattern(name, rng) + rng.normal(0, 17, (SIZE, SIZE))
    image[rng.random((SIZE, SIZE)) < 0.02] = 230
    image[RADIUS > 8] = 0
    return np.clip(image, 0, 255).astype(np.uint8)


def main() -> None:
    folders = read_folders()
    rng = np.random.default_rng(20811)
    labels = rng.choice(len(PATTERNS), TRAIN + TEST, p=[0.2, 0.14, 0.16, 0.16, 0.18, 0.16])
    images = np.stack([wafer(PATTERNS[label], rng) for label in labels])
    np.savez(folders.public / "train.npz", x=images[:TRAIN], y=labels[:TRAIN].astype(np.int64))
    np.savez(folders.public / "test.npz", x=images[TRAIN:])
    ids = [f"w{number:04d}" for number in range(TEST)]
    write_table(folders.public / "test_ids.csv", ["wafer"], [[each] for each in ids])
    write_table(folders.private / "labels.csv", ["wafer", "pattern"], zip(ids, labels[TRAIN:].tolist()))


if __name__ == "__main__":
    main()
