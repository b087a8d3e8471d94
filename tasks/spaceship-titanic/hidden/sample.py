"""Synthetic passengers with the columns of Kaggle's train.csv.

Those who sleep or spend little on comfort are more likely to be transported.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

PASSENGERS = 1500
COLUMNS = (
    "PassengerId HomePlanet CryoSleep Cabin Destination Age VIP RoomService FoodCourt ShoppingMall "
    "Spa VRDeck Name Transported"
).split()
PLANETS = ("Earth", "Europa", "Mars")
DESTINATIONS = ("TRAPPIST-1e", "55 Cancri e", "PSO J318.5-22")
SPENDING = ("RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck")
# Effect of a thousand spent there on the log odds.
EFFECTS = {
    "RoomService": -1.6,
    "FoodCourt": 0.5,
    "ShoppingMall": 0.6,
    "Spa": -1.7,
    "VRDeck": -1.6,
}
# Empty: values are missing in the original, too.
MISSING_SHARE = 0.02


def make_groups(random: np.random.Generator) -> list[tuple[int, int]]:
    """Group number and number within the group of each passenger."""
    numbers: list[tuple[int, int]] = []
    group = 0
    while len(numbers) < PASSENGERS:
        group += 1
        size = int(random.choice((1, 2, 3, 4), p=(0.65, 0.2, 0.1, 0.05)))
        numbers += [(group, place) for place in range(1, size + 1)]
    return numbers[:PASSENGERS]


def make_rows(random: np.random.Generator) -> list[list[object]]:
    """One row for each passenger, in the order of COLUMNS."""
    rows: list[list[object]] = []
    for group, place in make_groups(random):
        planet = int(random.choice(3, p=(0.54, 0.25, 0.21)))
        sleeps = bool(random.random() < 0.35)
        age = int(np.clip(random.normal(29, 14), 0, 79))
        spends = not sleeps and age > 12
        spent = {
            name: int(random.exponential(500)) if spends and random.random() < 0.6 else 0
            for name in SPENDING
        }
        deck = str(random.choice(list("FGEBCDA")))
        side = str(random.choice(list("PS")))
        odds = (
            -0.8
            + 2.2 * sleeps
            + 0.9 * (planet == 1)
            + 0.35 * (side == "S")
            + 0.5 * (age < 13)
            + sum(EFFECTS[name] * amount / 1000 for name, amount in spent.items())
            + 0.6 * (not sleeps and sum(spent.values()) == 0)
        )
        transported = bool(random.random() < 1 / (1 + np.exp(-1.4 * odds)))
        values = [
            PLANETS[planet],
            sleeps,
            f"{deck}/{int(random.integers(0, 300))}/{side}",
            str(random.choice(DESTINATIONS, p=(0.7, 0.2, 0.1))),
            f"{age}.0",
            bool(random.random() < 0.02),
            *(f"{amount}.0" for amount in spent.values()),
            f"Passenger {group} {place}",
        ]
        kept = ["" if random.random() < MISSING_SHARE else value for value in values]
        rows.append([f"{group:04d}_{place:02d}", *kept, transported])
    return rows


def main() -> None:
    sample = read_sample()
    folder = sample.downloads / "spaceship-titanic"
    folder.mkdir()
    write_table(folder / "train.csv", COLUMNS, make_rows(np.random.default_rng(sample.seed)))


if __name__ == "__main__":
    main()
