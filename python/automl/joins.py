"""Columns from other tables that share keys with the rows."""

from collections import Counter, defaultdict

import numpy as np

from automl.formats import GAPS, as_number, read_table
from automl.settings import TARGETS
from automl.table import Cells

JOINED: list[str] = []
"""Tables beside the one to learn from and the one to predict."""
LEAST_MATCHED = 0.5
"""The share of rows that must find their key in the other table."""
FEW = 6
"""Longer lists of names are not counted one by one."""

Keys = list[tuple[str, ...]]
Rows = dict[tuple[str, ...], list[int]]


def join_tables(train: dict[str, Cells], test: dict[str, Cells]) -> list[str]:
    """Adds the columns of other tables to both; the names of those that were added."""
    added: list[str] = []
    for path in JOINED:
        other = read_table(path)
        keys = [
            name
            for name in other
            if name in train and name in test and name not in TARGETS and is_key(name, other, test)
        ]
        values = [name for name in other if name not in (*keys, *train, *TARGETS)]
        if not keys or not values:
            continue
        places: Rows = defaultdict(list)
        for row, key in enumerate(keys_of(other, keys)):
            places[key].append(row)
        asked = [keys_of(table, keys) for table in (train, test)]
        if any(np.mean([key in places for key in each]) < LEAST_MATCHED for each in asked):
            continue
        is_unique = all(len(rows) == 1 for rows in places.values())
        # What is known of a key, by the name of the column.
        known = look_up(other, values, places) if is_unique else sum_up(other, values, places)
        for name, cells in known.items():
            label = f"{path} {name}"
            for table, each in zip((train, test), asked, strict=True):
                table[label] = [cells.get(key, "") for key in each]
            added.append(label)
        print(f"joined {path} by {', '.join(keys)}: {len(known)} columns")
    return added


def is_key(name: str, other: dict[str, Cells], test: dict[str, Cells]) -> bool:
    """Whether most values of a column stand in the other table as well."""
    there, asked = set(other[name]), set(test[name])
    return len(asked & there) >= LEAST_MATCHED * len(asked)


def keys_of(table: dict[str, Cells], keys: list[str]) -> Keys:
    return list(zip(*([cell.strip() for cell in table[name]] for name in keys), strict=True))


def look_up(
    other: dict[str, Cells], values: list[str], places: Rows
) -> dict[str, dict[tuple[str, ...], str]]:
    return {name: {key: other[name][rows[0]] for key, rows in places.items()} for name in values}


def sum_up(
    other: dict[str, Cells], values: list[str], places: Rows
) -> dict[str, dict[tuple[str, ...], str]]:
    """How many rows a key has, and what they amount to: in all, by kind, and lately."""
    numbers, kinds = {}, {}
    for name in values:
        column = np.array([as_number(cell) for cell in other[name]])
        levels = Counter(cell for cell in other[name] if cell not in GAPS)
        if np.mean(~np.isnan(column)) >= 0.5:
            numbers[name] = column
        elif len(levels) <= FEW:
            kinds[name] = np.array(other[name], dtype=object)
    chosen = {"": np.ones(len(other[values[0]]), bool)}
    for name, column in kinds.items():
        chosen |= {f" where {name} is {level}": column == level for level in sorted(set(column))}
    for name, column in numbers.items():
        if any(word in name.lower() for word in ("day", "date", "time", "week", "month", "year")):
            for share in (0.5, 0.8, 0.95):
                late = column >= np.nanquantile(column, share)
                chosen[f" in the last {1 - share:.2f} of {name}"] = late
    found: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for key, rows in places.items():
        place = np.array(rows)
        for label, where in chosen.items():
            picked = place[where[place]]
            found[f"rows{label}"][key] = str(len(picked))
            for name, column in numbers.items():
                known = column[picked][~np.isnan(column[picked])]
                found[f"sum of {name}{label}"][key] = repr(float(known.sum()))
                if len(known):
                    found[f"mean of {name}{label}"][key] = repr(float(known.mean()))
                    if label == "":
                        found[f"least {name}"][key] = repr(float(known.min()))
                        found[f"most {name}"][key] = repr(float(known.max()))
    return found
