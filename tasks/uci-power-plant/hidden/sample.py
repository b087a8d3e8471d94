"""Synthetic hours in the original format: the output falls nonlinearly with temperature."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

DAYS = 160
MOST_HOURS = 16
# In MW: noise shared by all hours of a day, and noise of each hour.
DAY_NOISE, HOUR_NOISE = 1.5, 2.2


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    lines = []
    for _ in range(DAYS):
        warmth = random.uniform(3, 34)
        vacuum = float(np.clip(30 + 1.15 * warmth + random.normal(0, 7), 25, 82))
        shift = random.normal(0, DAY_NOISE)
        for _ in range(int(random.integers(4, MOST_HOURS + 1))):
            temperature = float(np.clip(warmth + random.normal(0, 2.5), 1.5, 37))
            pressure = random.normal(1018 - 0.25 * temperature, 4.5)
            humidity = float(np.clip(105 - 1.6 * temperature + random.normal(0, 13), 25, 100))
            output = (
                497
                - 2.5 * temperature
                + 0.028 * temperature**2
                - 0.16 * vacuum
                + 10 / (1 + np.exp((vacuum - 55) / 4))
                + 0.06 * (pressure - 1013)
                - 0.15 * humidity
                + shift
                + random.normal(0, HOUR_NOISE)
            )
            values = (temperature, vacuum, pressure, humidity, output)
            lines.append("\t".join(f"{value:.2f}" for value in values) + "\n")
    places = random.permutation(len(lines))
    (sample.downloads / "data.txt").write_text("".join(lines[place] for place in places))


if __name__ == "__main__":
    main()
