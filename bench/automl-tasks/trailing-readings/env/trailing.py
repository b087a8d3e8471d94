"""Trailing statistics of sensor readings (nightly job)."""
import os
import time

import numpy as np
import pandas as pd

SEED = int(os.environ.get("MLAB_SEED", "0"))


def trailing_stats(sensor, second, value, window):
    df = pd.DataFrame({"sensor": sensor, "second": second, "value": value})
    out = []
    for i, row in df.iterrows():
        same = df[df["sensor"] == row["sensor"]]
        recent = same[(same["second"] <= row["second"]) & (same["second"] >= row["second"] - window)]
        good = recent["value"].dropna()
        if len(good) == 0:
            out.append([0, np.nan, np.nan])
        else:
            out.append([len(good), good.mean(), good.std(ddof=0)])
    return np.array(out, dtype=float)


def make_readings(n=1500, sensors=12, seed=SEED):
    rng = np.random.default_rng(seed)
    sensor = rng.integers(0, sensors, n)
    second = np.sort(rng.integers(0, 7200, n))
    value = 20 + 3 * rng.standard_normal(n)
    value[rng.random(n) < 0.05] = np.nan
    return sensor, second, value


if __name__ == "__main__":
    readings = make_readings()
    t0 = time.perf_counter()
    stats = trailing_stats(*readings, window=900)
    elapsed = time.perf_counter() - t0
    print(f"rows={len(stats)} count={stats[:, 0].sum():.0f} mean={np.nanmean(stats[:, 1]):.6f} std={np.nanmean(stats[:, 2]):.6f}")
    print(f"took {elapsed * 1000:.1f} ms ({elapsed:.4f} s)")
