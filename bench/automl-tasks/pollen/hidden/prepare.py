"""Draws 2,000 pictures of pollen grains."""

import hashlib
import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

PLANTS = ["birch", "grass", "hazel", "pine", "ragweed"]
SIZE, FINE = 28, 3


def grain(rng, plant):
    span = (np.arange(SIZE * FINE) + 0.5) / FINE - SIZE / 2
    x, y = np.meshgrid(span, span)
    x, y = x - rng.normal(0, 0.9), y - rng.normal(0, 0.9)
    turn = rng.uniform(0, 2 * np.pi)
    x, y = np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y
    squeeze = rng.normal(1, 0.07)
    x, y = x * squeeze, y / squeeze
    distance, angle = np.hypot(x, y), np.arctan2(y, x)
    radius = rng.uniform(6.2, 9.6)
    edge = radius * np.ones_like(angle)
    pores = []
    if plant == "birch":
        edge *= 1 + 0.05 * np.cos(3 * angle)
        pores = [0, 2 * np.pi / 3, 4 * np.pi / 3]
    elif plant == "hazel":
        edge *= 1 + 0.1 * np.cos(3 * angle) - 0.03 * np.cos(6 * angle)
        pores = [0, 2 * np.pi / 3, 4 * np.pi / 3]
    elif plant == "grass":
        pores = [rng.uniform(-0.3, 0.3)]
    elif plant == "ragweed":
        spines = rng.integers(13, 18)
        edge *= 1 + 0.07 * np.abs(np.sin(spines * angle / 2)) - 0.04
    density = 1 / (1 + np.exp((distance - edge) / 0.35))
    rim = np.exp(-(((distance - edge + 0.9) / 0.8) ** 2))
    picture = 0.33 * density + 0.3 * rim
    if plant == "pine":
        radius *= 0.72
        body = 1 / (1 + np.exp((np.hypot(x / 1.15, y) - radius) / 0.35))
        picture = 0.4 * body
        for side in (-1, 1):
            sac = np.hypot(x - side * radius * 1.05, y + radius * 0.45) - radius * 0.62
            picture += 0.28 / (1 + np.exp(sac / 0.4)) + 0.15 * np.exp(-((sac + 0.5) ** 2))
    for pore in pores:
        if rng.random() < 0.12:
            continue  # out of focus
        at = radius * (0.93 if plant != "grass" else rng.uniform(0.3, 0.95))
        px, py = at * np.cos(pore), at * np.sin(pore)
        gap = np.hypot(x - px, y - py)
        width = 1.0 if plant != "hazel" else 1.25
        picture += 0.42 * np.exp(-((gap - width * 1.2) ** 2)) - 0.3 * np.exp(-((gap / width) ** 2))
    if plant == "ragweed":
        for _ in range(rng.integers(7, 15)):
            r, a = radius * 0.8 * np.sqrt(rng.random()), rng.uniform(0, 2 * np.pi)
            picture += 0.22 * np.exp(-((np.hypot(x - r * np.cos(a), y - r * np.sin(a)) / 0.7) ** 2))
    for _ in range(rng.poisson(0.9)):  # dirt
        dx, dy = rng.uniform(-14, 14, size=2)
        picture += rng.uniform(0.1, 0.5) * np.exp(-((np.hypot(x - dx, y - dy) / rng.uniform(0.6, 1.6)) ** 2))
    picture = picture.reshape(SIZE, FINE, SIZE, FINE).mean(axis=(1, 3))
    for _ in range(rng.integers(0, 4)):  # focus
        padded = np.pad(picture, 1, mode="edge")
        picture = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] + 2 * picture) / 6
    light = rng.uniform(0.75, 0.95) + np.add.outer(np.linspace(-1, 1, SIZE), np.zeros(SIZE)) * rng.normal(0, 0.04)
    picture = light - picture * rng.uniform(0.55, 1.0) + rng.normal(0, 0.045, size=picture.shape)
    return np.clip(np.round(255 * picture), 0, 255).astype(np.uint8)


folders = read_folders()
rng = np.random.default_rng(5)
labels = []
for number in range(2000):
    plant = PLANTS[rng.choice(5, p=[0.26, 0.24, 0.18, 0.14, 0.18])]
    pixels = grain(rng, plant)
    name = hashlib.sha256(pixels.tobytes()).hexdigest()[:10] + ".pgm"
    if number < 1250:
        folder = folders.public / "train" / plant
    else:
        folder = folders.public / "test"
        labels.append([name, plant])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"P5\n%d %d\n255\n" % (SIZE, SIZE) + pixels.tobytes())
write_table(folders.private / "plants.csv", ["picture", "plant"], sorted(labels))
