"""Columns from other tables that share keys with the rows."""

from collections import defaultdict
from pathlib import Path

import numpy as np

from automl.formats import Columns, as_number, cleaned, read_folder, read_table
from automl.settings import TARGETS
from automl.table import FILE_COLUMN

JOINED: list[str] = []
"""Tables beside the one to learn from and the one to predict."""
LEAST_MATCHED = 0.5
"""The share of rows that must find their key in the other table."""
FEW = 6
"""Longer lists of names are not counted one by one."""

Key = tuple[str, ...]
Known = dict[str, dict[Key, str]]
"""What is known of a key, by the name of the column."""


def join_tables(train: Columns, test: Columns) -> list[str]:
    """Adds the columns of other tables to both; the names of those that were added."""
    added: list[str] = []
    for path in JOINED:
        table = read_folder(Path(path), FILE_COLUMN) if Path(path).is_dir() else read_table(path)
        other = {name: list(map(cleaned, cells)) for name, cells in table.items()}
        keys = [
            name
            for name in other
            if name in train and name in test and name not in TARGETS and is_key(name, other, test)
        ]
        values = [name for name in other if name not in (*keys, *train, *TARGETS)]
        is_list = len(keys) == len(other)
        if not keys or not (values or is_list):
            continue
        places: dict[Key, list[int]] = defaultdict(list)
        for row, key in enumerate(keys_of(other, keys)):
            places[key].append(row)
        asked = [keys_of(table, keys) for table in (train, test)]
        least = 0 if is_list else LEAST_MATCHED
        if any(np.mean([key in places for key in each]) < least for each in asked):
            continue
        if is_list:
            known = {"rows": {key: str(len(rows)) for key, rows in places.items()}}
        elif len(places) == len(other[keys[0]]):
            known = {name: {k: other[name][row] for k, (row,) in places.items()} for name in values}
        else:
            known = sum_up(other, values, places)
        for name, cells in known.items():
            label = f"{path} {name}"
            for table, each in zip((train, test), asked, strict=True):
                table[label] = [cells.get(key, "0" if is_list else "") for key in each]
            added.append(label)
        print(f"joined {path} by {', '.join(keys)}: {len(known)} columns")
    return added


def is_key(name: str, other: Columns, test: Columns) -> bool:
    """Whether most values of a column stand in the other table as well."""
    there, asked = set(other[name]), set(test[name])
    return len(asked & there) >= LEAST_MATCHED * len(asked)


def keys_of(table: Columns, keys: list[str]) -> list[Key]:
    return list(zip(*(table[name] for name in keys), strict=True))


def sum_up(other: Columns, values: list[str], places: dict[Key, list[int]]) -> Known:
    """How many rows a key has, and what they amount to: in all, by kind, and lately."""
    numbers, chosen = {}, {"": np.ones(len(other[values[0]]), bool)}
    for name in values:
        column, cells = np.array([as_number(cell) for cell in other[name]]), np.array(other[name])
        if np.mean(~np.isnan(column)) >= 0.5:
            numbers[name] = column
        elif len(set(other[name]) - {""}) <= FEW:
            chosen |= {f" where {name} is {level}": cells == level for level in np.unique(cells)}
    for name, column in numbers.items():
        if any(word in name.lower() for word in ("day", "date", "time", "week", "month", "year")):
            for share in (0.5, 0.8, 0.95):
                late = column >= np.nanquantile(column, share)
                chosen[f" in the last {1 - share:.2f} of {name}"] = late
    found: Known = defaultdict(dict)
    for key, rows in places.items():
        for label, where in chosen.items():
            picked = [row for row in rows if where[row]]
            found[f"rows{label}"][key] = str(len(picked))
            for name, column in numbers.items():
                known = column[picked][~np.isnan(column[picked])]
                measures = {"sum": np.sum, "mean": np.mean, "least": np.min, "most": np.max}
                for measure, of in measures.items():
                    if measure == "sum" or (len(known) and (label == "" or measure == "mean")):
                        found[f"{measure} of {name}{label}"][key] = repr(float(of(known)))
    return found
