"""Draws small microscope pictures of cell nuclei: 300 with masks, 240 whose masks are hidden."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

SIZE, TRAIN, TEST = 40, 300, 240


def blur(image, times):
    for _ in range(times):
        padded = np.pad(image, 1, mode="edge")
        image = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] + 4 * image) / 8
    return image


def picture(rng):
    y, x = np.mgrid[:SIZE, :SIZE].astype(float)
    image = 0.12 + 0.28 * rng.random() * ((x - SIZE / 2) * np.cos(a := rng.uniform(0, 2 * np.pi)) + (y - SIZE / 2) * np.sin(a)) / SIZE
    image += 0.05 * blur(rng.normal(0, 1, (SIZE, SIZE)), 12) * 6  # uneven background
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(2, 6)):
        cx, cy = rng.uniform(3, SIZE - 3, 2)
        long, ratio, turn = rng.uniform(4, 8), rng.uniform(0.55, 1), rng.uniform(0, np.pi)
        u, v = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn), -(x - cx) * np.sin(turn) + (y - cy) * np.cos(turn)
        angle = np.arctan2(v, u)
        edge = 1 + 0.09 * np.sin(3 * angle + rng.uniform(0, 6)) + 0.06 * np.sin(5 * angle + rng.uniform(0, 6))
        inside = np.sqrt((u / long) ** 2 + (v / (long * ratio)) ** 2) < edge
        texture = 1 + 0.25 * blur(rng.normal(0, 1, (SIZE, SIZE)), 3) * 2
        image = np.where(inside, np.maximum(image, rng.uniform(0.3, 0.6) * texture), image)
        mask |= inside
    for _ in range(rng.poisson(2.5)):  # bright debris and dust: not nuclei
        cx, cy, radius = *rng.uniform(0, SIZE, 2), rng.uniform(0.8, 1.9)
        image += rng.uniform(0.3, 0.7) * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * radius**2)) * (~mask)
    if rng.random() < 0.45:  # a fibre
        angle, offset = rng.uniform(0, np.pi), rng.uniform(-14, 14)
        distance = (x - SIZE / 2) * np.sin(angle) - (y - SIZE / 2) * np.cos(angle) - offset
        image += 0.35 * np.exp(-(distance**2) / 1.6) * (~mask)
    image = blur(image, int(rng.integers(1, 6)))
    image = rng.uniform(0.55, 1.2) * image + rng.normal(0, rng.uniform(0.04, 0.11), image.shape)
    return np.clip(np.round(255 * image), 0, 255).astype(np.uint8), mask


def run_lengths(mask):
    """'start length start length …', pixels numbered from 1, row by row."""
    flat = np.concatenate([[0], mask.ravel().astype(int), [0]])
    changes = np.flatnonzero(np.diff(flat)) + 1
    starts, ends = changes[::2], changes[1::2]
    return " ".join(f"{start} {end - start}" for start, end in zip(starts, ends))


folders = read_folders()
rng = np.random.default_rng(99)
images, masks = zip(*(picture(rng) for _ in range(TRAIN + TEST)))
np.save(folders.public / "train_images.npy", np.stack(images[:TRAIN]))
np.save(folders.public / "train_masks.npy", np.packbits(np.stack(masks[:TRAIN]), axis=-1))
np.save(folders.public / "test_images.npy", np.stack(images[TRAIN:]))
write_table(folders.public / "test_index.csv", ["image"], [[number] for number in range(TEST)])
write_table(folders.private / "labels.csv", ["image", "runs"], [[n, run_lengths(m)] for n, m in enumerate(masks[TRAIN:])])
