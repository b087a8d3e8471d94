"""Identifies animals in underwater images with trees on features of colour and texture."""

import csv
import os

import numpy as np
from PIL import Image, ImageFilter
from sklearn.ensemble import ExtraTreesRegressor

SEED = int(os.environ.get("MLAB_SEED", "0"))
TREES = 400
LEAF = 2
MOST = 20
FOLDS = 5
# Half the resolution is nearly as informative and takes a quarter of the time.
REDUCED = 2
BLUR = 12
HUES = 24
# Shares of the pixels that differ most from the water around them.
STANDING_OUT = (0.01, 0.04, 0.15)


def read_csv(file: str) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def grid_means(values: np.ndarray, cells: int) -> np.ndarray:
    """Means over cells x cells tiles. (side, side, k) to a vector of cells * cells * k."""
    side = values.shape[0] // cells
    tiles = values.reshape(cells, side, cells, side, -1)
    return tiles.mean(axis=(1, 3)).ravel()


def colour_histogram(hue: np.ndarray, saturation: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Histogram of the hues of all pixels, weighted by saturation. Shares, shape (HUES,)."""
    counts = np.bincount(
        np.minimum((hue * HUES).astype(int), HUES - 1).ravel(),
        (saturation * weights).ravel(),
        minlength=HUES,
    )
    return counts / max(counts.sum(), 1e-9)


def features(pixels: np.ndarray) -> np.ndarray:
    """Features of an image. Bytes of shape (256, 256, 3) to a vector."""
    image = Image.fromarray(pixels).reduce(REDUCED)
    water = np.asarray(image.filter(ImageFilter.BoxBlur(BLUR)), dtype=np.float32) / 255
    colours = np.asarray(image, dtype=np.float32) / 255
    hsv = np.asarray(image.convert("HSV"), dtype=np.float32) / 255
    hue, saturation = hsv[..., 0], hsv[..., 1]
    contrast = np.abs(colours - water).sum(axis=2)
    grey = colours.mean(axis=2)
    down, across = np.gradient(grey)
    steepness = np.hypot(down, across)
    angle = ((np.arctan2(down, across) / np.pi) % 1 * 8).astype(int) % 8

    parts = [
        grid_means(colours, 4),
        colours.std(axis=(0, 1)),
        np.histogram(grey, 16, (0, 1))[0] / grey.size,
        np.bincount(angle.ravel(), steepness.ravel(), minlength=8) / grey.size,
        np.quantile(contrast, (0.5, 0.75, 0.9, 0.97, 0.99, 0.998)),
        np.quantile(steepness, (0.5, 0.75, 0.9, 0.97, 0.99, 0.998)),
        grid_means(contrast[..., None], 4),
        colour_histogram(hue, saturation, np.ones_like(hue)),
    ]
    for share in STANDING_OUT:
        chosen = contrast >= np.quantile(contrast, 1 - share)
        parts += [
            colour_histogram(hue, saturation, chosen),
            (colours - water)[chosen].mean(axis=0),
            # How ragged the foreground is: many or few edges for its size.
            [np.diff(chosen, axis=0).sum() / chosen.sum(), steepness[chosen].mean()],
        ]
    return np.concatenate(parts).astype(np.float32)


def all_features(file: str) -> np.ndarray:
    """Shape (images, features)."""
    images = np.load(file, mmap_mode="r")
    return np.stack([features(np.array(image)) for image in images])


def fit(inputs: np.ndarray, targets: np.ndarray) -> ExtraTreesRegressor:
    forest = ExtraTreesRegressor(
        TREES, min_samples_leaf=LEAF, max_features="sqrt", n_jobs=-1, random_state=SEED
    )
    return forest.fit(inputs, targets)


def rank(probabilities: np.ndarray) -> np.ndarray:
    """Indices of the most likely categories, in descending order. Shape (images, MOST)."""
    return np.argsort(-probabilities, axis=1, kind="stable")[:, :MOST]


def mean_average_precision(ranking: np.ndarray, targets: np.ndarray) -> float:
    """MAP@20 of rankings of shape (images, MOST) on targets of shape (images, categories)."""
    hits = np.take_along_axis(targets, ranking, axis=1)
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return float(((precision * hits).sum(axis=1) / np.minimum(targets.sum(axis=1), MOST)).mean())


def main() -> None:
    rows = read_csv("data/train.csv")
    labels = [[int(category) for category in row["categories"].split()] for row in rows]
    ids = np.array(sorted({category for known in labels for category in known}))
    targets = np.zeros((len(rows), len(ids)), dtype=np.float32)
    for row, known in enumerate(labels):
        targets[row, np.searchsorted(ids, known)] = 1
    inputs = all_features("data/train_images.npy")
    print(f"{len(inputs)} images with {inputs.shape[1]} features, {len(ids)} categories")

    # Validated on other dives, as in the test set.
    dives = np.array([int(row["dive"]) for row in rows])
    held_out = dives % FOLDS == 0
    if held_out.any() and not held_out.all():
        validated = fit(inputs[~held_out], targets[~held_out]).predict(inputs[held_out])
        score = mean_average_precision(rank(validated), targets[held_out])
        print(f"validation MAP@20: {score:.4f}")

    chances = fit(inputs, targets).predict(all_features("data/test_images.npy"))
    chances = chances.reshape(-1, len(ids))
    with open("submission.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "categories", "osd"])
        for row, ranking in zip(read_csv("data/test.csv"), rank(chances), strict=True):
            writer.writerow([row["id"], " ".join(map(str, ids[ranking])), 0.5])


if __name__ == "__main__":
    main()
