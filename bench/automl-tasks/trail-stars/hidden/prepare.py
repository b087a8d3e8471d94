"""Makes up hikers, trails and the stars that the ones give to the others."""

import json
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_hidden_test

HIKERS, TRAILS, TASTES, RATINGS = 2000, 450, 4, 90000
KINDS = ["ridge", "lake", "forest", "gorge", "village"]

folders = read_folders()
rng = np.random.default_rng(1786)
names = [f"{a}{b}{n}" for a, b, n in zip(rng.choice(["berg", "sun", "mud", "fern", "fox"], HIKERS),
                                        rng.choice(["goat", "boots", "walker", "lou", "7"], HIKERS),
                                        rng.permutation(9000)[:HIKERS])]
codes = [f"T{n}" for n in rng.permutation(np.arange(100, 999))[:TRAILS]]
km, kind, hut = rng.gamma(5, 2.6, TRAILS) + 2, rng.integers(0, 5, TRAILS), rng.random(TRAILS) < 0.4
climb = km * rng.gamma(3, 20, TRAILS)
tastes = rng.normal(0, 0.34, (5, TASTES))[kind] + rng.normal(0, 0.34, (TRAILS, TASTES))
tastes[:, 0] += 0.35 * (np.log(climb) - np.log(climb).mean())
quality = rng.normal(0, 0.32, TRAILS) + 0.15 * hut
wishes, kindness = rng.normal(0, 0.75, (HIKERS, TASTES)), rng.normal(0, 0.42, HIKERS)
activity, fame = rng.lognormal(0, 0.8, HIKERS), rng.lognormal(0.5 * quality, 0.8)
pairs = np.unique(rng.choice(HIKERS, RATINGS, p=activity / activity.sum()) * TRAILS
                  + rng.choice(TRAILS, RATINGS, p=fame / fame.sum()))
rng.shuffle(pairs)
rows = []
for hiker, trail in zip(pairs // TRAILS, pairs % TRAILS):
    month = int(np.clip(round(rng.normal(7, 2.4)), 1, 12))
    stars = 3.5 + kindness[hiker] + quality[trail] + wishes[hiker] @ tastes[trail] + rng.normal(0, 0.45)
    stars -= 0.5 * (month in (11, 12, 1, 2) and kind[trail] == 0)
    rows.append([names[hiker], codes[trail], month, float(np.clip(round(stars * 2) / 2, 0.5, 5))])
hidden = len(rows) // 5
test = [[f"p{number}", *row] for number, row in enumerate(rows[:hidden])]
write_hidden_test(folders, ["pair", "hiker", "trail", "month", "stars"], test, "pair", "stars")
lines = [json.dumps({"hiker": h, "trail": t, "stars": s, "month": m}) for h, t, m, s in rows[hidden:]]
(folders.public / "ratings.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
guide = {code: {"km": round(float(km[i]), 1), "climb_m": round(float(climb[i]), -1), "kind": KINDS[kind[i]],
                "hut": bool(hut[i])} for i, code in enumerate(codes) if rng.random() > 0.1}
(folders.public / "trails.json").write_text(json.dumps(guide, indent=1), encoding="utf-8")
