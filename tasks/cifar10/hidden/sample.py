"""Synthetic images in the format of CIFAR-10: ten classes of shapes and patterns in any colour.

Half of them have the colours of their class, the others random ones; sizes and positions carry no
information, and all are overlaid with noise and spots.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).parent))

from batches import SIDE, Batch, write_batch, write_class_names

from mlab_task.sampling import read_sample

BATCH_PICTURES = 1_200
TEST_PICTURES = 1_000
NOISE = 16.0
LEAST_CONTRAST = 40.0
MOST_SPOTS = 4
# Scales the colours' distance from grey: the starter's large steps need low contrast.
CONTRAST = 0.8
# Share of the images with the colours of their class, and the spread around these, of 255;
# the others have random colours.
TELLING_SHARE = 0.5
SCATTER = 12.0

# A shape maps points in its own coordinates, from about -1 to 1, to the share of the foreground
# that they show, from 0 to 1. Shapes (32, 32).
Figure = Callable[[np.ndarray, np.ndarray], np.ndarray]


def inside(distance: np.ndarray) -> np.ndarray:
    """1 where a signed distance is negative, 0 where it is positive, with a soft transition."""
    return np.clip(0.5 - 6 * distance, 0, 1)


def stripes(along: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(3 * np.sin(6 * along))


def triangle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return inside(np.maximum(np.abs(x) * 1.6 + y, -y) - 0.75)


FIGURES: dict[str, Figure] = {
    "disc": lambda x, y: inside(np.hypot(x, y) - 0.9),
    "ring": lambda x, y: inside(np.abs(np.hypot(x, y) - 0.7) - 0.22),
    "square": lambda x, y: inside(np.maximum(np.abs(x), np.abs(y)) - 0.8),
    "triangle": triangle,
    "cross": lambda x, y: inside(
        np.maximum(np.minimum(np.abs(x), np.abs(y)) - 0.25, np.hypot(x, y) - 1)
    ),
    "crescent": lambda x, y: inside(np.maximum(np.hypot(x, y) - 0.9, 0.8 - np.hypot(x - 0.5, y))),
    "stripes": lambda x, y: stripes(x),
    "checks": lambda x, y: np.abs(stripes(x) - stripes(y)),
    "waves": lambda x, y: stripes(x + 0.35 * np.sin(4 * y)),
    "dots": lambda x, y: inside(np.hypot(np.mod(x, 0.8) - 0.4, np.mod(y, 0.8) - 0.4) - 0.22),
}


def class_colours(label: int) -> np.ndarray:
    """Mean foreground and background colours of a class, (2, 3), from 0 to 255."""
    thirds = 2 * np.pi * np.arange(3) / 3
    angle = 2 * np.pi * label / len(FIGURES)
    brightness = 50 if label % 2 else -50
    return 128 + 70 * np.cos([angle + thirds, angle + np.pi + thirds]) + [[0], [brightness]]


def draw_colours(random: np.random.Generator, label: int) -> np.ndarray:
    """Foreground and background colours that differ enough to be distinguished, (2, 3)."""
    telling = random.random() < TELLING_SHARE
    while True:
        if telling:
            colours = class_colours(label) + random.normal(0, SCATTER, (2, 3))
        else:
            colours = random.uniform(20, 235, (2, 3))
        if np.abs(colours[0] - colours[1]).mean() > LEAST_CONTRAST:
            return colours


def draw_picture(random: np.random.Generator, label: int) -> np.ndarray:
    """One image of a class, bytes of shape (32, 32, 3)."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE].astype(float)
    size, angle = random.uniform(5, 10), random.uniform(-0.45, 0.45)
    row, column = random.uniform(10, SIDE - 11, 2)
    y, x = (rows - row) / size, (columns - column) / size
    turned = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    share = list(FIGURES.values())[label](*turned)[..., None]

    foreground, background = draw_colours(random, label)
    slope = random.normal(0, 1.2, (2, 3))
    shade = (rows - 16)[..., None] * slope[0] + (columns - 16)[..., None] * slope[1]
    picture = background + shade + share * (foreground - background)
    for _ in range(random.integers(0, MOST_SPOTS + 1)):
        place, radius = random.uniform(0, SIDE, 2), random.uniform(1.5, 3.5)
        spot = inside((np.hypot(rows - place[0], columns - place[1]) - radius) / radius)[..., None]
        picture = picture + spot * (random.uniform(0, 255, 3) - picture)
    hazy = 128 + CONTRAST * (picture - 128) + random.normal(0, NOISE, picture.shape)
    return np.clip(hazy, 0, 255).astype(np.uint8)


def draw_batch(random: np.random.Generator, pictures: int) -> Batch:
    """The given number of images of random classes."""
    labels = random.integers(0, len(FIGURES), pictures)
    images = [draw_picture(random, label) for label in labels]
    return Batch(np.stack(images), labels.astype(np.uint8))


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    folder = sample.downloads / "cifar-10-python" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for number in range(1, 6):
        write_batch(folder / f"data_batch_{number}", draw_batch(random, BATCH_PICTURES))
    write_batch(folder / "test_batch", draw_batch(random, TEST_PICTURES))
    write_class_names(folder / "batches.meta", list(FIGURES), BATCH_PICTURES)


if __name__ == "__main__":
    main()
