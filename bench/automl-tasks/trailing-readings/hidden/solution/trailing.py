"""Trailing statistics by cumulative sums."""
import numpy as np


def trailing_stats(sensor, second, value, window):
    out = np.full((len(sensor), 3), np.nan)
    for one in np.unique(sensor):
        rows = np.flatnonzero(sensor == one)
        t, v = second[rows], value[rows]
        good = ~np.isnan(v)
        centre = v[good].mean() if good.any() else 0.0
        v = np.where(good, v - centre, 0.0)
        low, high = np.searchsorted(t, t - window, "left"), np.searchsorted(t, t, "right")
        n, s, q = (np.concatenate([[0.0], np.cumsum(x)]) for x in (good.astype(float), v, v * v))
        n, s, q = n[high] - n[low], s[high] - s[low], q[high] - q[low]
        some = n > 0
        mean = s[some] / n[some]
        spread = np.sqrt(np.maximum(q[some] / n[some] - mean**2, 0))
        spread[n[some] == 1] = 0
        out[rows, 0] = n
        out[rows[some], 1], out[rows[some], 2] = mean + centre, spread
    return out


if __name__ == "__main__":
    print("nothing to do")
