"""Finds the moth by its darkness, then measures its shape and colours; trees on these measures."""

import csv
import os

import numpy as np
from PIL import Image
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler, PolynomialFeatures
from sklearn.pipeline import make_pipeline

SEED = int(os.environ.get("MLAB_SEED", "0"))


def read_csv(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def measures(name):
    image = np.asarray(Image.open(f"data/images/{name}")).astype(float)
    sheet = np.percentile(image, 85, axis=(0, 1))
    image = image / sheet
    dark = np.clip(1 - image.mean(2) - 0.1, 0, None)
    # The largest dark patch is the moth.
    from scipy import ndimage

    patches, count = ndimage.label(ndimage.gaussian_filter(dark, 0.6) > 0.07)
    sizes = ndimage.sum_labels(np.ones_like(dark), patches, range(1, count + 1)) if count else []
    moth = patches == 1 + int(np.argmax(sizes)) if count else dark > 0
    rows, columns = np.nonzero(moth)
    spread, axes = np.linalg.eigh(np.cov(rows, columns))
    length = np.sqrt(np.maximum(spread, 0.01))
    pixels = image[moth]
    grey = pixels.mean(1)
    # Means in slices along the long axis show the bands.
    along = (rows - rows.mean()) * axes[0, 1] + (columns - columns.mean()) * axes[1, 1]
    slices = np.clip(((along / length[1]) * 2 + 4).astype(int), 0, 7)
    profile = [grey[slices == each].mean() if (slices == each).any() else grey.mean() for each in range(8)]
    return [
        moth.sum(), *length, length[0] / length[1], *pixels.mean(0), *np.median(pixels, 0),
        *pixels.std(0), *np.percentile(grey, [5, 25, 75, 95]), np.std(profile[1:7]),
        np.abs(np.diff(profile[1:7])).mean(), pixels[:, 0].mean() - pixels[:, 2].mean(), len(grey) / length.prod(),
    ]  # fmt: skip


train, test = read_csv("data/train.csv"), read_csv("data/test.csv")
X = np.array([measures(row["image"]) for row in train])
X_test = np.array([measures(row["image"]) for row in test])
y = [row["species"] for row in train]
models = [
    ExtraTreesClassifier(400, random_state=SEED),
    make_pipeline(StandardScaler(), PolynomialFeatures(2), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)),
]
chances = sum(model.fit(X, y).predict_proba(X_test) for model in models)
predictions = np.unique(y)[chances.argmax(1)]
with open("submission.csv", "w", newline="") as f:
    csv.writer(f).writerows([["image", "species"], *zip((row["image"] for row in test), predictions)])
