"""Made-up parcels and the hours from drop-off to delivery: 2,400 public, 1,200 hidden."""

import os
import random
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_hidden_test, write_table

TRAIN, TEST = 2400, 1200
HEADER = [
    "parcel", "distance_km", "weight_kg", "volume_l", "service", "depot", "weekday", "dropoff_hour",
    "is_rural", "label_printer", "scanner_battery", "hours",
]  # fmt: skip
DEPOTS = {"ALB": 1.0, "BRK": 1.35, "CTN": 0.85, "DUN": 1.1, "ESK": 1.6, "FRM": 0.95, "GLS": 1.2}
SERVICES = {"economy": 1.5, "standard": 1.0, "express": 0.5}


def parcel(rng: random.Random) -> list:
    distance = round(min(rng.lognormvariate(4.8, 0.8), 1400), 1)
    weight = round(rng.lognormvariate(0.9, 0.8), 2)
    volume = round(weight * rng.lognormvariate(1.6, 0.5), 1)
    service = rng.choices(list(SERVICES), [0.3, 0.5, 0.2])[0]
    depot = rng.choices(list(DEPOTS), [5, 4, 6, 3, 2, 4, 3])[0]
    weekday, hour, rural = rng.randrange(7), rng.randrange(6, 23), int(rng.random() < 0.28)
    hours = (9 + distance / 28) * SERVICES[service] * DEPOTS[depot]
    if hour >= 17:
        hours += 11  # the van has left
    if weekday >= 5 and service != "express":
        hours += 20 if weekday == 5 else 12
    if rural:
        hours += 6 + (8 if service == "economy" else 0)
    if volume > 40:
        hours *= 1.25
    hours *= rng.lognormvariate(0, 0.11)
    if rng.random() < 0.03:
        hours *= rng.uniform(2, 4)  # lost for a while
    return [
        distance, "" if rng.random() < 0.08 else weight, "" if rng.random() < 0.05 else volume,
        service, depot, weekday, hour, rural, rng.choice("PQR"), rng.randint(5, 100), round(hours, 1),
    ]  # fmt: skip


def main() -> None:
    folders = read_folders()
    rng = random.Random(73)
    rows = [[f"P{number:05d}", *parcel(rng)] for number in range(TRAIN + TEST)]
    write_table(folders.public / "train.csv", HEADER, rows[:TRAIN])
    write_hidden_test(folders, HEADER, rows[TRAIN:], "parcel", "hours")


if __name__ == "__main__":
    main()
