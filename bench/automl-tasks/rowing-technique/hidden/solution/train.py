"""Folds each recording into one mean stroke, starting at the catch, and classifies its shape."""
import os
import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SEED = int(os.environ.get("MLAB_SEED", "0"))
BINS = 32


def describe(name):
    rec = pd.read_csv(f"data/recordings/{name}.csv").interpolate(limit_direction="both")
    a = rec.to_numpy()
    t, force, handle, seat = a[:, 0], a[:, 1], a[:, 2], a[:, 3]
    # period: the best of a grid, by how well sines of it explain handle and seat
    best, period = -1, 2
    for p in np.arange(1.3, 3.8, 0.02):
        B = np.c_[np.ones(len(t)), *[f(2 * np.pi * k * t / p) for k in (1, 2, 3) for f in (np.sin, np.cos)]]
        fit = B @ np.linalg.lstsq(B, np.c_[handle, seat], rcond=None)[0]
        r = 1 - ((fit - np.c_[handle, seat]) ** 2).sum() / (((handle - handle.mean()) ** 2).sum() + ((seat - seat.mean()) ** 2).sum())
        if r > best:
            best, period = r, p
    def smooth(x, k=6):
        B = np.c_[np.ones(len(t)), *[f(2 * np.pi * j * t / period) for j in range(1, k + 1) for f in (np.sin, np.cos)]]
        w = np.linalg.lstsq(B.T @ B + 1e-3 * np.eye(B.shape[1]), B.T @ x, rcond=None)[0]
        g = np.arange(200) / 200 * period
        G = np.c_[np.ones(200), *[f(2 * np.pi * j * g / period) for j in range(1, k + 1) for f in (np.sin, np.cos)]]
        return G @ w
    h, s, f = smooth(handle), smooth(seat), smooth(force, 8)
    start = h.argmin()
    h, s, f = np.roll(h, -start), np.roll(s, -start), np.roll(f, -start)
    sn = (s - s.min()) / (np.ptp(s) + 1e-9)
    hn = (h - h.min()) / (np.ptp(h) + 1e-9)
    u = h - s
    un = (u - u.min()) / (np.ptp(u) + 1e-9)
    fn = f / (f.max() + 1e-9)
    peak = hn.argmax()
    row = [period, peak / 200, hn.mean(), sn.mean(), un.mean(), np.ptp(s) / np.ptp(h), sn[peak]]
    for z in (sn, un):
        up, down = z[: peak + 20], z[peak:]
        row += [np.argmax(up > q) / peak for q in (0.1, 0.3, 0.5, 0.7, 0.9)]
        row += [np.argmax(down < q) / (200 - peak) for q in (0.9, 0.7, 0.5, 0.3, 0.1)]
    inside = fn[: peak + 1]
    grid = np.interp(np.linspace(0, peak, 16), np.arange(peak + 1), inside)
    row += list(grid)
    d2 = np.gradient(np.gradient(grid))
    row += [d2[3:12].max(), d2[3:12].min()]
    k = 4 + int(grid[4:11].argmin())
    row += [grid[k] / (min(grid[1:k].max(), grid[k + 1 :].max()) + 1e-9)]
    row += list(sn[::12]) + list(un[::12])
    return row


def fit_predict(X, y, Z):
    et = ExtraTreesClassifier(400, min_samples_leaf=2, max_features=0.3, random_state=SEED).fit(X, y)
    svm = make_pipeline(StandardScaler(), SVC(C=5, gamma=0.005)).fit(X, y)
    e = np.exp(svm.decision_function(Z))
    return et.classes_[(et.predict_proba(Z) + e / e.sum(1, keepdims=True)).argmax(1)]


train, test = pd.read_csv("data/train_index.csv"), pd.read_csv("data/test_index.csv")
X, Z = (np.array([describe(n) for n in index.recording]) for index in (train, test))
y = train.technique.to_numpy()
found = [(fit_predict(X[a], y[a], X[b]) == y[b]).mean() for a, b in GroupKFold(4).split(X, y, train.rower)]
print(f"[valid] accuracy {np.mean(found):.4f}")
test["technique"] = fit_predict(X, y, Z)
test[["recording", "technique"]].to_csv("answers.csv", index=False)
