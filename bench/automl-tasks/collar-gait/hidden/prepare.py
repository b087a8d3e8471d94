"""Makes up windows of a dog's collar: 3 axes, 64 samples at 32 Hz."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_table

NAMES = ["rest", "walk", "trot", "gallop", "shake", "sniff"]
SHARES = [0.3, 0.26, 0.15, 0.07, 0.05, 0.17]
DOGS, HIDDEN_DOGS, EACH = 30, 10, 135

folders = read_folders()
rng = np.random.default_rng(640)
time = np.arange(64) / 32


def wave(frequency, harmonics):
    """A periodic movement of a random phase; harmonics are amplitudes of 1, 2, 3 times the frequency."""
    start = rng.uniform(0, 1)
    wobble = np.cumsum(rng.normal(0, 0.012, 64))
    return sum(a * np.sin(2 * np.pi * (k * (frequency * time + start + wobble) + rng.normal(0, 0.03)))
               for k, a in enumerate(harmonics, 1))


def window(name, pace, force):
    axes = np.zeros((3, 64))
    axes[2] += 1  # gravity
    if name == "rest":
        axes += 0.05 * wave(rng.uniform(0.3, 0.7), [1]) * rng.dirichlet([1, 1, 1])[:, None]
    elif name == "sniff":
        axes[0] += 0.5 * rng.normal(0.6, 0.4)
        axes[2] -= 0.3
        for axis in axes:
            axis += 0.12 * force * wave(rng.uniform(0.5, 1.1) * pace, [1, 0.3]) + 0.06 * wave(rng.uniform(5, 7), [1])
    elif name == "shake":
        middle, width = rng.uniform(0.3, 1.7), rng.uniform(0.25, 0.6)
        burst = np.exp(-(((time - middle) / width) ** 2))
        axes[1] += 1.3 * force * burst * wave(rng.uniform(4.2, 5.6), [1, 0.2])
        axes[0] += 0.4 * force * burst * wave(rng.uniform(4.2, 5.6), [1])
    else:
        rate, size, shape = {"walk": (1.6, 0.3, [1, 0.6, 0.1]), "trot": (2.3, 0.45, [0.7, 1, 0.1]),
                             "gallop": (2.3, 0.8, [1, 0.6, 0.3])}[name]
        rate, size = rate * pace * rng.lognormal(0, 0.07), size * force * rng.lognormal(0, 0.15)
        axes[2] += size * wave(rate, shape)
        axes[0] += 0.6 * size * wave(rate, shape)
        axes[1] += 0.35 * size * wave(rate / 2, [1, 0.3])
    angle = rng.normal(0, 1.0)  # the collar slips
    turned = axes.copy()
    turned[1] = np.cos(angle) * axes[1] - np.sin(angle) * axes[2]
    turned[2] = np.sin(angle) * axes[1] + np.cos(angle) * axes[2]
    turned += rng.normal(0, rng.uniform(0.1, 0.32), (3, 64))
    if rng.random() < 0.08:  # a knock against something
        turned[:, rng.integers(64)] += rng.normal(0, 1.5, 3)
    return turned


signals, activity, dogs = [], [], []
for dog in range(DOGS):
    pace, force = rng.lognormal(0, 0.16), rng.lognormal(0, 0.3)
    for _ in range(EACH if dog >= HIDDEN_DOGS else 150):
        name = rng.choice(NAMES, p=SHARES)
        signals.append(window(name, pace, force))
        activity.append(name if dog < HIDDEN_DOGS or rng.random() > 0.03 else rng.choice(NAMES))
        dogs.append(dog)
signals = np.round(np.array(signals), 3).astype(np.float32)
activity, dogs = np.array(activity), np.array(dogs)


def pick(chosen):
    return rng.permutation(np.flatnonzero(chosen))


shown, hidden = pick(dogs >= HIDDEN_DOGS), pick(dogs < HIDDEN_DOGS)
np.savez(folders.public / "train_windows.npz", signals=signals[shown], activity=activity[shown], dog=dogs[shown])
np.savez(folders.public / "test_windows.npz", signals=signals[hidden])
ids = [f"w{number:05d}" for number in range(len(hidden))]
write_table(folders.public / "test.csv", ["window"], [[i] for i in ids])
write_table(folders.private / "labels.csv", ["window", "activity"], list(zip(ids, activity[hidden])))
