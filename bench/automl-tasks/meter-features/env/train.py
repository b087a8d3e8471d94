# Features of smart meter readings. build_features() is called on every new batch of readings and takes too long.
import time

import numpy as np
import pandas as pd


def build_features(meter, minute, kwh, window):
    """One row of features for each reading, in the order of the readings.

    meter:  (n,) int64, which meter sent the reading
    minute: (n,) int64, when; the readings of one meter are at different minutes, in no order
    kwh:    (n,) float64, consumption since the meter's previous reading
    window: minutes to look back

    Returns (n, 4) float64:
      0  minutes since the previous reading of the same meter, -1 if there is none
      1  mean kwh of the meter's readings in [minute - window, minute), -1 if there is none
      2  highest kwh of the meter up to and including this reading
      3  share of all readings of the batch (of all meters, at any time) with a smaller kwh
    """
    df = pd.DataFrame({"meter": meter, "minute": minute, "kwh": kwh})
    rows = []
    for _, r in df.iterrows():
        same = df[df["meter"] == r["meter"]]
        before = same[same["minute"] < r["minute"]]
        if len(before) > 0:
            gap = r["minute"] - before["minute"].max()
        else:
            gap = -1
        recent = before[before["minute"] >= r["minute"] - window]
        mean = recent["kwh"].mean() if len(recent) > 0 else -1
        highest = max(before["kwh"].max(), r["kwh"]) if len(before) > 0 else r["kwh"]
        share = (df["kwh"] < r["kwh"]).sum() / len(df)
        rows.append([gap, mean, highest, share])
    return np.array(rows, dtype=float)


def make_batch(n, meters, seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.choice(meters * 10080, n, replace=False)
    meter, minute = cells // 10080, cells % 10080
    kwh = np.round(rng.gamma(2, 0.4, n) * (1 + 0.4 * np.sin(minute / 1440 * 2 * np.pi)), 3)
    return meter, minute, kwh


if __name__ == "__main__":
    batch = make_batch(800, 40)
    t0 = time.time()
    out = build_features(*batch, window=720)
    print("checksum", np.round(out.mean(axis=0), 6))
    print(f"took {time.time() - t0:.3f}s for {len(out)} readings")
