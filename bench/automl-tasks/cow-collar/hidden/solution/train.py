"""Extremely randomised trees on spectra and on features that do not depend on how the collar sits."""

import csv
import os

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

SEED = int(os.environ.get("MLAB_SEED", "0"))


def features(windows, cows):
    acc = windows.astype(float)
    mean = acc.mean(axis=2)
    centre = np.array([np.median(mean[cows == cow], axis=0) for cow in cows])
    moving = acc - mean[:, :, None]
    length = np.linalg.norm(acc, axis=1)
    length -= length.mean(axis=1, keepdims=True)
    signals = np.concatenate([moving, length[:, None]], axis=1)
    spectra = np.abs(np.fft.rfft(signals * np.hanning(125), axis=2))[:, :, 1:45] ** 2
    bands = spectra.reshape(len(acc), 4, 22, 2).sum(axis=3)
    total = bands.sum(axis=2, keepdims=True)
    summed = spectra[:, :3].sum(axis=1)
    covariances = np.einsum("nit,njt->nij", moving, moving) / 125
    eigenvalues = np.log(np.linalg.eigvalsh(covariances) + 1)
    return np.concatenate(
        [
            mean, mean - centre, np.log(moving.std(axis=2) + 1), eigenvalues, np.log(total[:, :, 0] + 1),
            (bands / total).reshape(len(acc), -1), summed.argmax(axis=1)[:, None],
            (summed.max(axis=1) / summed.sum(axis=1))[:, None],
            np.abs(np.diff(acc, axis=2)).mean(axis=2),
        ],
        axis=1,
    )


train, test = np.load("data/collar_train.npz"), np.load("data/collar_test.npz")
model = ExtraTreesClassifier(400, min_samples_leaf=2, class_weight="balanced", random_state=SEED)
model.fit(features(train["acc"], train["cow"]), train["behaviour"])
with open("behaviour.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["window", "behaviour"])
    writer.writerows(zip(test["window"], model.predict(features(test["acc"], test["cow"])), strict=True))
