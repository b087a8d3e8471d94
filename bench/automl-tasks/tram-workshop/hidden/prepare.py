"""Makes up 6,500 repair orders of a tram workshop."""

import math
import os
import random
import sys
from datetime import datetime, timedelta
from hashlib import sha256

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_hidden_test, write_table

HEADER = ["opened", "vehicle", "depot", "fault", "mileage_km", "inspected", "reporter", "temperature", "notes"]
SUBSYSTEMS = {"B": 0.5, "D": -0.3, "E": 0.2, "H": 0.0, "P": 0.9, "S": -0.6}  # brakes, doors, electrics, ...
DEPOTS = ["Nord", "Harbour", "Westend"]
SERIES = {"NF8": 0.0, "GT6": 0.35, "KT4": 0.55, "U3": -0.15}
NOTES = {"SPARE NA": 0.65, "2P": -0.25, "NIGHT": 0.12, "WTY": 0.3, "REPEAT": 0.4, "TEMP FIX": -0.7, "PHOTO": 0.0}


def make_orders(rng: random.Random, count: int) -> list[list]:
    components = {}
    for subsystem, base in SUBSYSTEMS.items():
        for number in rng.sample(range(1, 60), 9):
            components[subsystem, number] = base + rng.gauss(0, 0.55)
    popular = {key: rng.expovariate(1) + 0.15 for key in components}
    start = datetime(2019, 1, 7)
    rows = []
    for _ in range(count):
        opened = start + timedelta(minutes=rng.randrange(5 * 365 * 24 * 60))
        series = rng.choices(list(SERIES), [5, 3, 2, 2])[0]
        car = rng.randint(1, 60)
        depot = rng.choices(DEPOTS, [3, 2, 2])[0]
        subsystem, component = rng.choices(list(components), list(popular.values()))[0]
        severity = rng.choices([1, 2, 3, 4], [4, 4, 2, 1])[0]
        mileage = min(rng.gammavariate(2.2, 45_000), 400_000)
        waited = rng.expovariate(1 / 150)
        reporter = rng.choices(["driver", "inspector", "telemetry", "cleaner"], [5, 3, 3, 1])[0]
        season = math.cos(2 * math.pi * (opened.timetuple().tm_yday - 20) / 365)
        temperature = 10 - 10 * season + rng.gauss(0, 4)
        notes = [note for note in NOTES if rng.random() < (0.16 if note != "WTY" else 0.07)]

        level = 0.6 + components[subsystem, component] + SERIES[series] + 0.3 * (severity - 1)
        level += 0.15 * (severity == 4) + 0.006 * (60 - car)
        level += 0.25 * math.log1p(mileage / 60_000) + 0.12 * min(waited / 180, 3)
        level += sum(NOTES[note] for note in notes)
        if subsystem in "DH" and temperature < 0:
            level += 0.5
        if depot == "Westend" and subsystem == "P":
            level += 0.7  # no lathe there
        if depot == "Harbour":
            level -= 0.15
        if opened.weekday() >= 5:
            level += 0.25
        if reporter == "telemetry":
            level -= 0.3 * (subsystem in "EB")
        level -= 0.08 * (opened - start).days / 365
        hours = math.exp(level + rng.gauss(0, 0.33))
        hours = max(0.25, round(hours * 4) / 4)

        rng.shuffle(notes)
        rows.append(
            [
                opened.strftime("%d.%m.%Y %H:%M"),
                f"{series}-{car:03d}",
                depot,
                f"{subsystem}{severity}-{component:03d}",
                "" if rng.random() < 0.13 else int(round(mileage, -2)),
                "" if rng.random() < 0.2 else (opened - timedelta(days=waited)).date().isoformat(),
                reporter,
                "" if rng.random() < 0.06 else round(temperature, 1),
                ";".join(notes) if notes else ("" if rng.random() < 0.8 else "-"),
                hours,
            ]
        )
    return rows


folders = read_folders()
rows = make_orders(random.Random(20_240_117), 6_500)
rows = sorted(rows, key=lambda row: sha256(repr(row[:-1]).encode()).digest())
rows = [[f"W{100_000 + number}", *row] for number, row in enumerate(rows)]
header = ["order", *HEADER, "hours"]
write_table(folders.public / "orders.csv", header, rows[2_000:])
write_hidden_test(folders, header, rows[:2_000], "order", "hours", test="open_orders.csv")
