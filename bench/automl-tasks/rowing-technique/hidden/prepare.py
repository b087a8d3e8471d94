"""Made-up recordings of a rowing machine: seven seconds of five sensors, one technique each."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_table

rng = np.random.default_rng(1888)
CLASSES = ["clean", "early_arms", "rushed_slide", "late_legs", "jerky"]
ROWERS, PER_ROWER, HIDDEN_ROWERS = 32, 18, 12
RATE = 20
COLUMNS = ["t", "force_n", "handle_m", "seat_m", "acc_x", "acc_z"]


def ramp(phase, start, end):
    return 0.5 - 0.5 * np.cos(np.pi * np.clip((phase - start) / (end - start), 0, 1))


def record(kind, rower):
    seconds = rng.uniform(6, 8)
    t = np.arange(0, seconds, 1 / RATE)
    strokes_per_second = rower["rate"] * rng.lognormal(0, 0.12)
    phase = (rng.uniform() + np.cumsum(strokes_per_second * (1 + rng.normal(0, 0.02) + 0.02 * np.sin(t)) / RATE)) % 1
    drive = rower["drive"] + rng.normal(0, 0.025)
    arms_at, legs_end, seat_back = 0.62 + rng.normal(0, 0.06), 0.74 + rng.normal(0, 0.05), 0.78 + rng.normal(0, 0.05)
    if kind == "early_arms":
        arms_at -= rng.uniform(0.22, 0.4)
    if kind == "late_legs":
        legs_end += rng.uniform(0.22, 0.36)
    if kind == "rushed_slide":
        seat_back -= rng.uniform(0.2, 0.34)
    recover = 1 - drive
    legs = ramp(phase, 0.02, drive * legs_end) * (1 - ramp(phase, drive + 0.28 * recover, drive + seat_back * recover + 0.2 * recover))
    arms = ramp(phase, drive * arms_at, drive) * (1 - ramp(phase, drive + 0.02, drive + 0.35 * recover))
    seat = rower["leg"] * legs
    handle = seat + rower["arm"] * arms + 0.3 * ramp(phase, drive * 0.3, drive) * (1 - ramp(phase, drive, drive + 0.6 * recover))
    force = rower["force"] * rng.lognormal(0, 0.15) * np.sin(np.pi * np.clip(phase / drive, 0, 1)) ** rng.uniform(0.8, 1.3) * (phase < drive)
    if kind == "jerky":
        dip = rng.uniform(0.35, 0.6)
        force *= 1 - rng.uniform(0.3, 0.6) * np.exp(-(((phase / drive) - dip) ** 2) / 0.012)
    speed = np.gradient(seat, 1 / RATE)
    tilt = rower["tilt"]
    acc_x = np.gradient(speed, 1 / RATE) * 0.35 + rng.normal(0, 0.5, len(t)) + 9.81 * np.sin(tilt)
    acc_z = 9.81 * np.cos(tilt) + 0.004 * force * np.sin(2 * np.pi * phase) + rng.normal(0, 0.3, len(t))
    table = np.c_[
        t,
        force + rng.normal(0, 14, len(t)) + rower["zero"],
        handle + rng.normal(0, 0.02, len(t)),
        seat + rower["seat0"] + rng.normal(0, 0.015, len(t)),
        acc_x,
        acc_z,
    ]
    if rng.random() < 0.15:  # the radio drops a stretch
        at = rng.integers(5, len(t) - 15)
        table[at : at + rng.integers(3, 10), 1:] = np.nan
    return table


folders = read_folders()
texts, facts = [], []
for number in range(ROWERS):
    rower = {
        "rate": rng.uniform(0.33, 0.55), "drive": rng.uniform(0.36, 0.46), "leg": rng.uniform(0.48, 0.64), "arm": rng.uniform(0.4, 0.55),
        "force": rng.uniform(300, 800), "tilt": rng.normal(0, 0.05), "zero": rng.normal(0, 12), "seat0": rng.uniform(0, 0.15),
    }
    for _ in range(PER_ROWER):
        kind = CLASSES[rng.choice(5, p=[0.26, 0.19, 0.19, 0.18, 0.18])]
        lines = [",".join(COLUMNS)]
        for row in record(kind, rower):
            lines.append(",".join("" if np.isnan(v) else f"{v:.{d}f}" for v, d in zip(row, (2, 1, 3, 3, 2, 2))))
        texts.append("\n".join(lines) + "\n")
        facts.append((number, kind))

# people and recordings are numbered by a hash, so that numbers tell nothing
order = order_by_content([[text] for text in texts])
people = {}
(folders.public / "recordings").mkdir()
train, test, labels = [], [], []
for number, place in enumerate(order):
    rower, kind = facts[place]
    who = people.setdefault(rower, f"rower{len(people) + 1:02d}")
    name = f"rec_{number:03d}"
    (folders.public / "recordings" / f"{name}.csv").write_text(texts[place])
    if rower < HIDDEN_ROWERS:
        test.append([name, who])
        labels.append([name, kind])
    else:
        train.append([name, who, kind])
write_table(folders.public / "train_index.csv", ["recording", "rower", "technique"], train)
write_table(folders.public / "test_index.csv", ["recording", "rower"], test)
write_table(folders.private / "labels.csv", ["recording", "technique"], labels)
