"""Makes up weather and the readings of four meters; the last six weeks are hidden."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.preparing import read_folders, write_table

folders, rng = read_folders(), np.random.default_rng(440)
hours = np.arange("2023-01-01T00", "2024-04-15T00", dtype="datetime64[h]")
dates = hours.astype("datetime64[D]")
n, h = len(hours), (hours - dates).astype(int)
dow = (dates.astype(int) + 3) % 7  # 1 January 1970 was a Thursday
day = (dates - hours.astype("datetime64[Y]").astype("datetime64[D]")).astype(int) + 1 + h / 24


def ar(scale, keep):
    noise, out = rng.normal(0, scale, n), np.zeros(n)
    for i in range(1, n):
        out[i] = keep * out[i - 1] + noise[i]
    return out


temp = 10.5 - 10.5 * np.cos(2 * np.pi * (day - 18) / 365.25) - 3 * np.cos(2 * np.pi * (h - 3) / 24) + ar(0.35, 0.995)
cloud = np.clip(np.round(4.5 + ar(0.6, 0.97)), 0, 8)
wind = np.abs(3.5 + ar(0.3, 0.98))
closed_days = np.array(["2023-01-01", "2023-01-02", "2023-04-07", "2023-04-10", "2023-05-01", "2023-05-18", "2023-05-29", "2023-10-03", "2023-11-01",
                        *(f"2023-12-{d}" for d in range(23, 32)), "2024-01-01", "2024-03-29", "2024-04-01"], dtype="datetime64[D]")
closed = np.isin(dates, closed_days) | (dow == 6)
BREAKS = [("2023-02-11", "2023-04-11"), ("2023-07-22", "2023-10-09"), ("2024-02-10", "2024-04-08")]
lectures = ~np.any([(dates >= np.datetime64(a)) & (dates < np.datetime64(b)) for a, b in BREAKS], axis=0)
work = np.exp(-((h - 12.5) / 4.3) ** 4) * np.where(closed, 0.06, np.where(dow == 5, 0.3, np.where(dow == 4, 0.88, 1)))
felt = temp.copy()
for i in range(1, n):
    felt[i] = felt[i - 1] + (1 - 0.5 ** (1 / 9)) * (temp[i] - felt[i - 1])
cold, hot = np.maximum(15 - felt, 0), np.maximum(felt - 19, 0)
dark = np.clip(np.cos(2 * np.pi * (h - 0.5) / 24) + 0.35 * np.cos(2 * np.pi * day / 365.25) + 0.02 * cloud, 0, 1)
kwh = {
    "library": 22 + (62 + 22 * lectures) * work + 9 * dark + 0.5 * cold + 7.5 * hot * (0.3 + work),
    "labs": 140 + 60 * work + 2.0 * hot * (1 + work) + 0.8 * wind,
    "canteen": 9 + (95 * np.exp(-((h - 11.3) / 2.0) ** 2) + 14 * np.exp(-((h - 6) / 1.5) ** 2)) * np.where(closed | (dow == 5), 0.05, 0.55 + 0.45 * lectures),
    "dormitory": 30 + 30 * np.exp(-((h - 19.5) / 3) ** 2) * (0.6 + 0.4 * lectures) + 10 * np.exp(-((h - 7.5) / 1.5) ** 2) + 3.2 * cold + 6 * dark,
}
readings = {name: clean * np.exp(ar(0.012, 0.9) + rng.normal(0, 0.035, n)) for name, clean in kwh.items()}
stamp = np.char.replace(hours.astype("datetime64[m]").astype(str), "T", " ")
rows = [[name, stamp[i], round(float(readings[name][i]), 2)] for i in range(n) for name in sorted(kwh)]
first = 4 * int(np.sum(hours < np.datetime64("2024-03-04T00")))
known, late = rows[:first], [rows[i] for i in first + rng.permutation(len(rows) - first)]  # the order tells nothing
failed = rng.random(first) < 0.008
gone = np.zeros(n, bool)
for start in rng.integers(0, n, 25):
    gone[start : start + rng.integers(2, 20)] = True
write_table(folders.public / "meters.csv", ["row_id", "meter", "hour", "kwh"],
            ([i + 1, *row[:2], "" if failed[i] else row[2]] for i, row in enumerate(known)))
write_table(folders.public / "forecast.csv", ["row_id", "meter", "hour"], ([first + 1 + i, *row[:2]] for i, row in enumerate(late)))
write_table(folders.private / "actual.csv", ["row_id", "kwh"], ([first + 1 + i, row[2]] for i, row in enumerate(late)))
write_table(folders.public / "weather.csv", ["hour", "temp_c", "wind_ms", "cloud_okta"],
            ([stamp[i], round(temp[i], 1), round(wind[i], 1), int(cloud[i])] for i in range(n) if not gone[i]))
write_table(folders.public / "closures.csv", ["date"], ([d] for d in closed_days))
