"""Simulates the collars of 30 cows; the windows of ten of them are hidden."""

import hashlib
import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

RATE, LENGTH = 12.5, 125
SHARES = {"drink": 0.06, "graze": 0.27, "groom": 0.08, "lie": 0.17, "ruminate": 0.2, "stand": 0.13, "walk": 0.09}
TIME = np.arange(LENGTH) / RATE


def turned(vectors, angles):
    for axis, angle in enumerate(angles):
        i, j = [(1, 2), (0, 2), (0, 1)][axis]
        c, s = np.cos(angle), np.sin(angle)
        vectors = vectors.copy()
        vectors[i], vectors[j] = c * vectors[i] - s * vectors[j], s * vectors[i] + c * vectors[j]
    return vectors


def smooth_noise(rng, width):
    noise = rng.normal(size=(3, LENGTH + width))
    kernel = np.ones(width) / np.sqrt(width)
    return np.array([np.convolve(row, kernel, mode="valid")[:LENGTH] for row in noise])


def rhythm(rng, hertz, wobble=0.06):
    speed = hertz * (1 + wobble * np.cumsum(rng.normal(size=LENGTH)) / np.sqrt(LENGTH))
    return 2 * np.pi * np.cumsum(speed) / RATE + rng.uniform(0, 2 * np.pi)


def window(rng, behaviour, cow):
    pitch = {"drink": 0.85, "graze": 0.95, "groom": 0.25, "lie": 0.12, "ruminate": 0.08, "stand": 0.05, "walk": 0.2}
    angle = pitch[behaviour] + rng.normal(0, 0.16)
    gravity = np.array([np.sin(angle), 0.0, np.cos(angle)])[:, None] * 1000
    acc = np.repeat(gravity, LENGTH, axis=1)
    acc += 14 * rng.normal(size=(3, LENGTH)) + 8 * smooth_noise(rng, 15)
    lively = cow["lively"] * rng.lognormal(0, 0.3)
    if behaviour == "graze":
        bite = rhythm(rng, cow["bite"], 0.25)
        acc[0] += lively * 90 * np.sin(bite)
        acc[2] += lively * 55 * np.abs(np.sin(bite + 0.6))
        acc += lively * 35 * smooth_noise(rng, 5)
    elif behaviour == "drink":
        gulp = rhythm(rng, 1.9 * cow["bite"] / 1.15, 0.1)
        acc[2] += lively * 26 * np.sin(gulp)
        acc += lively * 20 * smooth_noise(rng, 9)
    elif behaviour == "ruminate":
        chew = rhythm(rng, cow["chew"], 0.05)
        pause = np.ones(LENGTH)
        if rng.random() < 0.5:
            begin = rng.integers(0, LENGTH - 40)
            pause[begin : begin + rng.integers(35, 60)] = 0.05
        acc[1] += lively * pause * 30 * np.sin(chew)
        acc[0] += lively * pause * 14 * np.sin(2 * chew + 0.4)
    elif behaviour == "walk":
        step = rhythm(rng, cow["step"], 0.08)
        acc[2] += lively * 110 * np.sin(step)
        acc[1] += lively * 60 * np.sin(step / 2 + 1)
        acc += lively * 30 * smooth_noise(rng, 4)
    elif behaviour == "groom":
        sway = smooth_noise(rng, 20)
        acc[1] += 330 * sway[1] * cow["lively"] * 0.6
        acc[0] += 120 * sway[0]
        lick = rhythm(rng, 2.3, 0.2)
        acc += lively * 45 * np.sin(lick) * np.array([[0.3], [1], [0.5]]) * (smooth_noise(rng, 25)[:1] > -0.5)
    elif behaviour == "lie":
        acc += 5 * np.sin(2 * np.pi * 0.55 * cow["breath"] * TIME + rng.uniform(0, 6)) * np.array([[1], [0.2], [0.4]])
        acc = turned(acc, [cow["lying"] * rng.choice([-1, 1]) + rng.normal(0, 0.1), 0, 0])
    else:
        acc += lively * 9 * smooth_noise(rng, 12)
    if rng.random() < 0.2:  # an insect, a neighbour
        at = rng.integers(0, LENGTH - 12)
        acc[:, at : at + 12] += rng.normal(0, 170, size=(3, 1)) * np.hanning(12) * rng.choice([-1, 1], size=12)
    collar = cow["collar"] + rng.normal(0, [0.12, 0.07, 0.07])
    return np.clip(np.round(turned(acc, collar)), -4096, 4095).astype(np.int16)


folders = read_folders()
rng = np.random.default_rng(77)
names = list(SHARES)
parts = {"train": [], "test": []}
for number in range(30):
    cow = {
        "lively": rng.lognormal(0, 0.4),
        "bite": rng.normal(1.15, 0.1),
        "chew": rng.normal(1.05, 0.09),
        "step": rng.normal(1.7, 0.15),
        "breath": rng.normal(1, 0.1),
        "lying": rng.normal(0.28, 0.1),
        "collar": rng.normal(0, [0.4, 0.28, 0.2]),
    }
    for _ in range(110):
        behaviour = names[rng.choice(len(names), p=list(SHARES.values()))]
        noted = behaviour
        if rng.random() < 0.03:  # observers err
            noted = names[rng.integers(len(names))]
        acc = window(rng, behaviour, cow)
        parts["test" if number % 3 == 1 else "train"].append((hashlib.sha256(acc.tobytes()).hexdigest(), number, acc, noted))

for part, rows in parts.items():
    rows.sort(key=lambda row: row[0])
    arrays = {"acc": np.array([row[2] for row in rows]), "cow": np.array([row[1] for row in rows], dtype=np.int16)}
    if part == "train":
        arrays["behaviour"] = np.array([row[3] for row in rows])
    else:
        windows = [f"w{index:04d}" for index in range(len(rows))]
        arrays["window"] = np.array(windows)
        write_table(folders.public / "windows.csv", ["window"], [[name] for name in windows])
        labels = [[name, row[3]] for name, row in zip(windows, rows, strict=True)]
        write_table(folders.private / "behaviour.csv", ["window", "behaviour"], labels)
    np.savez_compressed(folders.public / f"collar_{part}.npz", **arrays)
