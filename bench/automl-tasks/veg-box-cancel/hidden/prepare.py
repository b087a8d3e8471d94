"""Makes up subscribers of a vegetable box, their events, and who cancels."""

import gzip
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_hidden_test, write_table

PEOPLE, HIDDEN, DAYS = 4000, 1200, 182
folders = read_folders()
rng = np.random.default_rng(20240630)
start = np.datetime64("2024-01-01")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


numbers = rng.choice(np.arange(10000, 99999), PEOPLE, replace=False)
people, events, risks = [], [], []
for number in numbers:
    key = f"VB-{number}"
    size = rng.choice(["small", "medium", "large"], p=[0.4, 0.4, 0.2])
    household = int(np.clip(rng.poisson({"small": 0.8, "medium": 1.8, "large": 3}[size]) + 1, 1, 8))
    price = {"small": 14, "medium": 19, "large": 27}[size] + rng.choice([0, 0, 0.5, 2])
    age = int(np.clip(rng.normal(46, 13), 19, 88))
    tenure = int(rng.exponential(500)) + 190
    channel = rng.choice(["friend", "market stall", "web", "leaflet"], p=[0.3, 0.2, 0.35, 0.15])
    mood, drift = rng.normal(), rng.normal()  # how content someone is, and where that goes
    weekday, opens, swaps = rng.integers(0, 5), rng.gamma(2, 0.012), rng.gamma(1.5, 0.01)
    skips = fails = gripes = late_opens = 0
    for day in range(DAYS):
        now = mood + drift * (day - 120) / 60
        recent = day >= DAYS - 45
        if day % 7 == weekday:
            if rng.random() < sigmoid(-2.6 - 0.9 * now):
                events.append((key, day, "skipped", ""))
                skips += recent
            else:
                events.append((key, day, "delivered", f"{price:.2f}"))
                if rng.random() < sigmoid(-3.2 - 0.7 * now):
                    kind = rng.choice(["wilted", "missing item", "late", "wrong box"])
                    events.append((key, day + int(rng.integers(0, 2)), "complaint", kind))
                    gripes += recent
        if rng.random() < opens * sigmoid(1 + now) * 2:
            events.append((key, day, "email_opened", ""))
            late_opens += recent
        if rng.random() < swaps:
            events.append((key, day, "swap", rng.choice(["beetroot", "kale", "celeriac", "leek"])))
        if day % 30 == 12 and rng.random() < 0.06:
            events.append((key, day, "payment_failed", ""))
            fails += day >= DAYS - 60
    now = mood + drift
    risk = -0.9 * now + 0.65 * skips + 0.8 * gripes + 1.6 * fails - 0.12 * late_opens
    risk += 0.5 * (channel == "leaflet") - 0.0006 * tenure - 0.02 * (age - 46) + 0.07 * (price - 18)
    risks.append(risk + rng.logistic(0, 0.6))
    joined = str(start + DAYS - tenure)
    people.append([key, joined, size, household, f"{price:.2f}",
                   "" if rng.random() < 0.12 else age, channel,
                   rng.choice(["yes", "no", ""], p=[0.5, 0.4, 0.1]), f"R{rng.integers(1, 15):02d}"])

limit = np.quantile(risks, 0.78)
rows = [[*person, int(risk > limit)] for person, risk in zip(people, risks)]
header = ["subscriber_id", "joined", "box", "household_size", "weekly_price_eur", "age",
          "found_us_by", "newsletter", "route", "cancelled"]
write_table(folders.public / "subscribers.csv", header, rows[HIDDEN:])
write_hidden_test(folders, header, rows[:HIDDEN], "subscriber_id", "cancelled")

events = [event for event in events if event[1] < DAYS]
events.sort(key=lambda event: (event[1], event[0], event[2]))
text = "subscriber_id,day,event,note\n" + "".join(
    f"{key},{start + day},{kind},{note}\n" for key, day, kind, note in events
)
packed = gzip.compress(text.encode(), mtime=0)
(folders.public / "box_events.csv.gz").write_bytes(packed)
