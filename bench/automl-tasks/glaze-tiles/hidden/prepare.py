"""Draws tiles: a glaze with shading and noise, and one of five conditions on it."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.preparing import read_folders, write_table

S = 12
NAMES = ["sound", "crack", "pinhole", "drip", "crawling"]
yy, xx = np.mgrid[0:S, 0:S].astype(float)


def blob(rng, y, x, r):
    return np.exp(-(((yy - y) ** 2 + (xx - x) ** 2) / r**2) ** 2)


def mark(rng, kind):
    m = np.zeros((S, S))
    if kind == "crack":
        y, x, a = rng.uniform(2, 9), rng.uniform(2, 9), rng.uniform(0, np.pi)
        dy, dx = np.sin(a), np.cos(a)
        along, across = (yy - y) * dy + (xx - x) * dx, (yy - y) * dx - (xx - x) * dy
        bent = across - rng.normal(0, 0.06) * along**2
        m = np.exp(-(bent / 0.6) ** 2) * (np.abs(along) < rng.uniform(3.5, 7))
    elif kind == "pinhole":
        for _ in range(rng.integers(2, 5)):
            m = np.maximum(m, blob(rng, rng.uniform(1, 10), rng.uniform(1, 10), 0.8))
    elif kind == "drip":
        x, top, end = rng.uniform(2, 9), rng.uniform(-1, 3), rng.uniform(6, 10)
        m = np.exp(-((xx - x) / 1.1) ** 2) * (yy > top) * (yy < end)
        m = np.maximum(m, blob(rng, end, x, 1.9)) * rng.choice([-1, 1])
    elif kind == "crawling":
        m = blob(rng, rng.uniform(2, 9), rng.uniform(2, 9), rng.uniform(1.8, 3.2))
        m = np.maximum(m, blob(rng, rng.uniform(2, 9), rng.uniform(2, 9), rng.uniform(1.5, 2.5)))
    return m


def tile(rng, kind):
    base = rng.uniform(70, 190, 3)
    shade = (yy - 5.5) * rng.normal(0, 3) + (xx - 5.5) * rng.normal(0, 3)
    if kind == "sound" and rng.random() < 0.4:  # specks of pigment: one dot of another hue
        tint = rng.normal(0, 30, 3)
    else:
        tint = np.zeros(3)
    speck = blob(rng, rng.uniform(1, 10), rng.uniform(1, 10), 1.0)
    contrast = rng.uniform(22, 60)
    bare = np.array([1.0, 0.95, 0.85]) if kind == "crawling" and rng.random() < 0.7 else -np.ones(3)
    picture = base + shade[..., None] + speck[..., None] * tint + mark(rng, kind)[..., None] * contrast * bare
    picture = picture + rng.normal(0, rng.uniform(5, 13), (S, S, 1)) + rng.normal(0, 5, (S, S, 3))
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


folders, rng = read_folders(), np.random.default_rng(1717)
kinds = rng.choice(NAMES, 3500, p=[0.24, 0.2, 0.2, 0.18, 0.18])
pictures = np.stack([tile(rng, kind) for kind in kinds])
ids = [f"T{n}" for n in rng.permutation(9000)[:3500] + 1000]
np.save(folders.public / "train_images.npy", pictures[:2000])
np.save(folders.public / "test_images.npy", pictures[2000:])
write_table(folders.public / "train_labels.csv", ["tile", "condition"], list(zip(ids, kinds))[:2000])
write_table(folders.public / "test_tiles.csv", ["tile"], [[i] for i in ids[2000:]])
write_table(folders.private / "labels.csv", ["tile", "condition"], list(zip(ids, kinds))[2000:])
