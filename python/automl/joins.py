"""Columns from other tables that share keys with the rows."""

from collections import defaultdict

import numpy as np

from automl.cells import as_number, cleaned
from automl.formats import Columns, read_tables_of
from automl.sequences import BANDS, SHORTEST, swings_of
from automl.settings import TARGETS
from automl.table import FILE_COLUMN

JOINED: list[list[str]] = []
"""Tables beside the one to learn from and the one to predict; each a file, or folders of them."""
LEAST_MATCHED = 0.5
"""The share of rows that must find their key in the other table."""
FEW = 6
"""What the rows of a kind amount to is not told of longer lists of kinds."""
MOST_KINDS = 40
"""Of longer ones, only how many rows there are of each kind that is frequent."""
ROWS_OF_FREQUENT = 20
MOST_FREQUENT_KINDS = 150
MOST_SEQUELS = 40
"""Pairs of kinds of rows, of which one follows the other."""
MOST_LETTERS_OF_KEY = 20_000
NAMES_OF_TIMES = ("day", "date", "time", "week", "month", "year", "second", "step", "tick")

Key = tuple[str, ...]
Known = dict[str, dict[Key, str]]
"""What is known of a key, by the name of the column."""


def join_tables(train: Columns, test: Columns) -> list[str]:
    """Adds the columns of other tables to both: the names of those that were added."""
    added: list[str] = []
    for paths in JOINED:
        table, path = read_tables_of(paths, FILE_COLUMN), " and ".join(paths)
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
    """
    How many rows a key has, and what they amount to: in all, by kind, and lately; and how numbers
    begin, end and change from one row to the next, in the order of time, if there is any, or of the
    table.
    """
    lengths = [len(rows) for rows in places.values()]
    starts = np.cumsum([0, *lengths[:-1]])
    which = np.repeat(np.arange(len(lengths)), lengths)
    order = np.concatenate([np.array(rows) for rows in places.values()])
    numbers, chosen, many, events = {}, {"": np.ones(len(order), bool)}, set(), {}
    for name in values:
        column = np.array([as_number(cell) for cell in other[name]])
        cells = np.array([cell.casefold() for cell in other[name]])
        levels, counts = np.unique(cells[cells != ""], return_counts=True)
        is_time = is_of_time(name)
        if np.mean(~np.isnan(column)) >= 0.5:
            numbers[name] = column
        elif len(levels) <= MOST_KINDS or not is_time:
            listed = kinds_of(levels, counts)
            kinds = {f" where {name} is {level}": cells == level for level in listed}
            chosen |= kinds
            many |= kinds.keys() if len(levels) > FEW else set()
            events |= {name: cells} if 1 < len(levels) <= MOST_KINDS else {}
        if is_time and len(levels) > 1:
            when = np.nan_to_num(numbers.get(name, np.unique(cells, return_inverse=True)[1]))
            order = order[np.lexsort((when[order], which))]
            for share in (0.5, 0.8, 0.95):
                late = when >= np.quantile(when, share)
                chosen[f" in the last {1 - share:.2f} of {name}"] = late
    found: dict[str, np.ndarray] = {}
    for label, where in chosen.items():
        found[f"rows{label}"] = np.add.reduceat(where[order].astype(float), starts)
        for name, column in numbers.items() if label not in many else ():
            measures = measure(np.where(where, column, np.nan)[order], starts, which)
            if label != "":
                # Of a part of the rows, the rest says little more.
                measures = {each: measures[each] for each in ("sum", "mean")}
            elif np.median(lengths) >= SHORTEST:
                measures |= swings(column[order], starts)
            found |= {f"{each} of {name}{label}": cells for each, cells in measures.items()}
    if np.median(lengths) >= SHORTEST:
        told = {name: column[order] for name, column in numbers.items()}
        for name, cells in events.items():
            found |= {
                f"{name}: {each}": c for each, c in sequels(cells[order], told, starts).items()
            }
    known = {
        name: dict(zip(places, map(written, cells), strict=True)) for name, cells in found.items()
    }
    for name in [name for name in values if are_sentences(other[name])]:
        known[f"all {name}"] = {
            key: "\n".join(other[name][row] for row in rows)[:MOST_LETTERS_OF_KEY]
            for key, rows in places.items()
        }
    return known


def sequels(
    kinds: np.ndarray, numbers: dict[str, np.ndarray], starts: np.ndarray
) -> dict[str, np.ndarray]:
    """
    What follows what: how often two kinds of rows come one after the other, of the most frequent
    pairs, and by how much numbers that never fall, as clocks, then rise on the mean, shape (keys,).
    """
    ends = np.append(starts[1:] - 1, len(kinds) - 1)
    pairs = np.append(np.char.add(np.char.add(kinds[:-1], " then "), kinds[1:]), "")
    pairs[ends] = ""
    clocks = {}
    for name, column in numbers.items():
        rises = np.append(np.diff(column), np.nan)
        rises[ends] = np.nan
        if np.fmin.reduce(rises) >= 0:
            clocks[name] = rises
    levels, counts = np.unique(pairs[pairs != ""], return_counts=True)
    found = {}
    for pair in levels[np.argsort(-counts, kind="stable")[:MOST_SEQUELS]]:
        is_it = pairs == pair
        found[pair] = np.add.reduceat(is_it.astype(float), starts)
        for name, rises in clocks.items():
            found[f"{pair}, {name}"] = mean_of(np.where(is_it, rises, np.nan), starts)
    return found


def is_of_time(name: str) -> bool:
    return any(word in name.lower() for word in NAMES_OF_TIMES)


def are_sentences(cells: list[str]) -> bool:
    """Of several words, and most of them different."""
    told = list(filter(None, cells))
    return len(set(told)) > len(told) / 2 and np.mean([len(cell.split()) for cell in told]) >= 2.5


def kinds_of(levels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All of a short list; of a longer one those that are frequent, if most rows are of them."""
    if len(levels) <= MOST_KINDS:
        return levels
    is_often = counts >= ROWS_OF_FREQUENT
    is_told = counts[is_often].sum() > counts.sum() / 2 and is_often.sum() <= MOST_FREQUENT_KINDS
    return levels[is_often & is_told]


def measure(column: np.ndarray, starts: np.ndarray, which: np.ndarray) -> dict[str, np.ndarray]:
    """
    What the numbers of each key amount to, shape (keys,). `column` and `which`, the key of each
    row, have the shape (rows,); the rows of a key follow each other from its place in `starts`.
    """
    mean = mean_of(column, starts)
    steps = np.abs(np.diff(column, prepend=np.nan))
    steps[starts] = np.nan
    return {
        "sum": np.add.reduceat(np.nan_to_num(column), starts),
        "mean": mean,
        "least": np.fmin.reduceat(column, starts),
        "most": np.fmax.reduceat(column, starts),
        "spread": np.sqrt(mean_of((column - mean[which]) ** 2, starts)),
        "mean step": mean_of(steps, starts),
        "first": column[starts],
        "last": column[[*(starts[1:] - 1), -1]],
    }


def swings(column: np.ndarray, starts: np.ndarray) -> dict[str, np.ndarray]:
    """How strongly the numbers of each key swing; gaps are left out."""
    found = np.full((len(starts), BANDS), np.nan)
    for place, series in enumerate(np.split(column, starts[1:])):
        known = series[~np.isnan(series)]
        if len(known) >= SHORTEST:
            found[place] = swings_of(known[None])[0]
    return {f"swings in band {band}": cells for band, cells in enumerate(found.T)}


def mean_of(column: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Of the known numbers of each key; not-a-number if there are none."""
    count = np.add.reduceat((~np.isnan(column)).astype(float), starts)
    total = np.add.reduceat(np.nan_to_num(column), starts)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def written(number: float) -> str:
    return "" if np.isnan(number) else repr(float(number))
