"""Makes up the logbooks of a fishing harbour, with the errors of people who write by hand."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRIPS, HIDDEN = 3600, 1100
ABOUT = """trip               number of the trip
Boat               name of the boat
Length o.a. (m)    length over all
Engine (kW)        rated power of the main engine
Gear               fishing gear used on the trip
Ground             fishing ground
Trip (h)           hours between leaving port and coming back (some skippers write minutes)
Steaming (nm)      distance to the ground and back, nautical miles
Wind (kn)          mean wind; -99 = not read
Sea temp [°C]      surface temperature (some thermometers show °F)
Hull cleaned       months since the hull was cleaned
Catch (kg)         landed catch
Crew               people on board
Fuel used [L]      litres of fuel; training data: as written by the skipper, typing errors included
"""
GEARS = {
    "beam trawl": (0.62, ["Beam trawl", "beam-trawl", "BEAM TRAWL", "Beam trawl ", "b. trawl"]),
    "otter trawl": (0.5, ["Otter trawl", "otter-trawl", "Otter Trawl", "OTB"]),
    "gill net": (0.2, ["Gill net", "gillnet", "Gill nets", "net (gill)"]),
    "longline": (0.27, ["Longline", "long line", "LL"]),
    "pots": (0.15, ["Pots", "pots", "crab pots", "Pots "]),
}
GROUNDS = {"Inner Bank": 14, "Dogger S": 70, "Long Sands": 35, "Kettle Deep": 110, "The Ridge": 52}

folders = read_folders()
rng = np.random.default_rng(77)
first, second = ["Anna", "Hope", "Star of", "Three", "North", "Good"], ["Marie", "Leith", "Sisters", "Wind", "Intent", "Ebb"]
boats = []
for name in sorted({f"{rng.choice(first)} {rng.choice(second)}" for _ in range(60)}):
    length = rng.uniform(9, 34)
    power = 14 * length ** 1.02 * rng.lognormal(0, 0.18)
    gears = rng.choice(list(GEARS), 2, replace=False, p=[0.2, 0.3, 0.2, 0.15, 0.15])
    boats.append((name, length, power, gears, rng.lognormal(0, 0.12), rng.random() < 0.25, rng.random() < 0.3))

rows = []
for number in rng.permutation(np.arange(1, TRIPS + 1)):
    name, length, power, gears, thirst, minutes, fahrenheit = boats[rng.integers(len(boats))]
    gear = gears[int(rng.random() < 0.3)]
    ground = rng.choice(list(GROUNDS))
    distance = 2 * GROUNDS[ground] * rng.lognormal(0, 0.12)
    fishing = rng.gamma(3, 6) + 2
    wind, temperature, hull, crew = rng.gamma(4, 3.2), rng.normal(11, 4), int(rng.integers(0, 19)), 2 + int(length / 7)
    steaming = distance / (7.2 + length * 0.07)
    load, spellings = GEARS[gear]
    burnt = 0.22 * power * (0.75 * steaming + load * fishing) * (1 + 0.018 * hull)
    burnt *= thirst * (1 + 0.0011 * wind**2 / 2) * rng.lognormal(0, 0.07)
    caught = fishing * length * load * 3 * rng.lognormal(0, 0.5)
    hours = (steaming + fishing) * (60 if minutes and rng.random() < 0.9 else 1)
    row = [int(number) + 40000, name, round(length, 1), round(power), rng.choice(spellings), ground,
           round(hours, 1), round(distance, 1) if rng.random() > 0.06 else "",
           -99 if rng.random() < 0.08 else round(wind, 1),
           round(temperature * 1.8 + 32 if fahrenheit else temperature, 1),
           hull if rng.random() > 0.1 else "", round(caught), crew, round(burnt)]
    if len(rows) >= HIDDEN:  # skippers' errors
        fate = rng.random()
        row[-1] = "" if fate < 0.01 else row[-1] * 10 if fate < 0.035 else row[-1] // 10 if fate < 0.05 else row[-1]
    rows.append(row)
header = [line.split("  ")[0].strip() for line in ABOUT.splitlines()]
write_table(folders.public / "trips_train.csv", header, rows[HIDDEN:])
write_hidden_test(folders, header, rows[:HIDDEN], "trip", "Fuel used [L]")
(folders.public / "COLUMNS.txt").write_text(ABOUT, encoding="utf-8")
