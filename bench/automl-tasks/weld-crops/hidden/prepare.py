"""Made-up radiographs of weld seams: 26 x 26 grey crops, one of five findings each."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

SIDE = 26
CLASSES = ["clean", "crack", "pore", "slag", "cluster"]
IMAGES = 1400
TRAIN = 950

rng = np.random.default_rng(20417)
yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(float)


def background():
    angle = rng.uniform(0, np.pi)
    along = np.cos(angle) * (xx - SIDE / 2) + np.sin(angle) * (yy - SIDE / 2)
    image = rng.uniform(95, 160) + rng.normal(0, 0.8) * along
    image += rng.uniform(0, 10) * np.sin(along / rng.uniform(2.5, 6) + rng.uniform(0, 6))
    return image


def spot(image, cy, cx, ry, rx, turn, depth):
    u = np.cos(turn) * (xx - cx) + np.sin(turn) * (yy - cy)
    v = -np.sin(turn) * (xx - cx) + np.cos(turn) * (yy - cy)
    image -= depth / (1 + np.exp(np.minimum(60, 4 * ((u / rx) ** 2 + (v / ry) ** 2 - 1))))


def draw(kind):
    image = background()
    depth = rng.uniform(22, 60)
    if kind == "crack":
        y, x = rng.normal(12.5, 1.6, 2)
        heading = rng.uniform(0, 2 * np.pi)
        for _ in range(rng.integers(16, 30)):
            heading += rng.normal(0, 0.28)
            y, x = y + 0.7 * np.sin(heading), x + 0.7 * np.cos(heading)
            spot(image, y, x, 0.8, 0.8, 0, depth * 0.6)
    elif kind == "pore":
        y, x = rng.normal(12.5, 1.6, 2)
        radius = rng.uniform(1.6, 3.4)
        spot(image, y, x, radius, radius * rng.uniform(0.9, 1.1), 0, depth)
    elif kind == "slag":
        y, x = rng.normal(12.5, 1.6, 2)
        short = rng.uniform(1.3, 2.3)
        spot(image, y, x, short, short * rng.uniform(2.0, 3.4), rng.uniform(0, np.pi), depth)
    elif kind == "cluster":
        y, x = rng.normal(12.5, 1.6, 2)
        for _ in range(rng.integers(4, 8)):
            radius = rng.uniform(0.8, 1.4)
            spot(image, y + rng.normal(0, 3.4), x + rng.normal(0, 3.4), radius, radius, 0, depth)
    image += rng.normal(0, rng.uniform(5, 11), image.shape)
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


folders = read_folders()
kinds = [CLASSES[k] for k in rng.choice(5, IMAGES, p=[0.22, 0.2, 0.22, 0.18, 0.18])]
images = np.stack([draw(kind) for kind in kinds])
order = order_by_content(images.reshape(IMAGES, -1).tolist())
images = images[order]
kinds = [kinds[place] for place in order]
# a few crops were labelled wrongly by the inspectors
for place in rng.choice(TRAIN, 28, replace=False):
    kinds[place] = CLASSES[rng.integers(5)]

np.save(folders.public / "train_images.npy", images[:TRAIN])
np.save(folders.public / "test_images.npy", images[TRAIN:])
write_table(folders.public / "train_labels.csv", ["crop", "finding"], list(enumerate(kinds[:TRAIN])))
write_hidden_test(
    folders, ["crop", "label"], list(enumerate(kinds[TRAIN:])), "crop", "label", test="test_crops.csv"
)
