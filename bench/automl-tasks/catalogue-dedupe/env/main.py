"""Runs the search for duplicates on the example catalogue and says how long it takes."""

import csv
import json
import time

from dedupe import find_duplicates

REPEAT = 2


def read_catalogue(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [
            {"id": int(row["id"]), "author": row["author"], "title": row["title"], "year": int(row["year"])}
            for row in csv.DictReader(file, delimiter=";")
        ]


def main():
    records = read_catalogue("data/catalogue.csv")
    with open("data/groups.json") as file:
        expected = json.load(file)
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        groups = find_duplicates(records, tolerance=20)
        times.append(time.perf_counter() - start)
    print(f"{len(records)} records, {len(groups)} groups of duplicates")
    print("same groups as before:", "yes" if groups == expected else "NO")
    print(f"time: {min(times):.3f} s")


if __name__ == "__main__":
    main()
