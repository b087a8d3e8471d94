"""Makes up reports of snow observers, with the danger level from 1 to 5 of the day."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN, TEST = 2500, 2500
folders = read_folders()
rng = np.random.default_rng(1936)

# sentences by what they say about the danger, from -2 (safe) to 2 (dangerous)
SAYS = {
    -2: ["snowpack well bonded everywhere", "no cracks and no whumpfs at all", "refrozen crust carries without skis",
         "compression test gave no result", "hardly any new snow and no wind signs", "quiet and stable on all aspects"],
    -1: ["only small pockets of wind slab near ridges", "no fresh slides seen, one old one", "test scored hard, uneven break",
         "slabs do not react to weight any more", "wind slab is thin and not widespread"],
    0: ["some wind slab on {a} slopes", "one small slide below {p}", "facets under the crust, moderate test score",
        "cracks at the skis in a few places", "sluffs from steep rocks"],
    1: ["whumpfs in several places", "fresh slab reacts to weight on {a} slopes", "two slides this morning near {p}",
        "test scored easy on facets", "not at all bonded above {h} m", "cracks run several metres"],
    2: ["large slides reached the road at {p}", "remote release from far away", "slab not stable anywhere, whumpfs all day",
        "many spontaneous avalanches overnight", "test failed while isolating the column, clean break"],
}
FILLER = ["good visibility", "skied up to {p}", "two groups on the way", "fog above {h} m", "sun came out at noon", "hut is closed",
          "lovely day out", "parking was full", "track already set", "met the warden at {p}"]
PLACES = ["Rossalp", "the Kanzel", "Tote Furgge", "the north couloir", "Val Mora", "Gletscherboden"]


def fill(text: str) -> str:
    aspect, place = rng.choice(["north", "east", "south", "west", "lee"]), rng.choice(PLACES)
    return text.format(a=aspect, p=place, h=rng.integers(18, 28) * 100)


def note(danger: float) -> str:
    parts = []
    for _ in range(rng.integers(1, 4)):
        tone = int(np.clip(np.round(danger + rng.normal(0, 0.7)), -2, 2))
        parts.append(fill(str(rng.choice(SAYS[tone]))))
    parts += [fill(str(text)) for text in rng.choice(FILLER, rng.integers(0, 3), replace=False)]
    parts = [parts[i] for i in rng.permutation(len(parts))]
    text = str(rng.choice([". ", ", ", "; "])).join(parts)
    if rng.random() < 0.3:  # a typing error
        place = int(rng.integers(0, len(text) - 1))
        text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text.capitalize() if rng.random() < 0.6 else text


def one() -> tuple[list[str], int]:
    danger = rng.normal(-0.3, 0.95)
    snow = max(0, rng.normal(14 + 16 * danger, 13))
    wind = max(0, rng.normal(22 + 9 * danger, 13))
    temperature, slope, height = rng.normal(-5, 5), rng.uniform(24, 42), rng.uniform(1500, 3100)
    real = danger + 0.07 * (temperature - -5) + 0.05 * (slope - 33) * (wind > 25) + rng.normal(0, 0.2)
    level = 1 + int(np.digitize(real, [-1.0, -0.1, 0.9, 1.8]))
    numbers = [f"{snow:.0f}", f"{wind:.0f}", f"{temperature:.1f}", f"{slope:.0f}", f"{height:.0f}", str(rng.integers(1, 30))]
    gaps = rng.random(6) < [0.1, 0.2, 0.1, 0.05, 0, 0]
    return [note(danger), *("" if gap else number for gap, number in zip(gaps, numbers))], level


records = [one() for _ in range(TRAIN + TEST)]


def numbered(part: list, start: int) -> list[list[object]]:
    order = order_by_content([public for public, _ in part])
    return [[start + number, *part[place][0], part[place][1]] for number, place in enumerate(order)]


header = ["report", "note", "new_snow_cm", "wind_kmh", "temperature_c", "slope_deg", "height_m", "observer", "level"]
write_table(folders.public / "train.csv", header, numbered(records[:TRAIN], 1))
write_hidden_test(folders, header, numbered(records[TRAIN:], 10001), "report", "level")
