"""Reads Python values as tables: from JSON, pickles and libraries."""

import json
from collections.abc import Mapping
from itertools import islice

from tables import MOST_COLUMNS, MOST_ROWS, Tables, chosen, columns_of, make_table

MOST_MEMBERS = 5_000


def walk(value: object, where: str, depth: int = 0) -> Tables:
    if depth > 6 or isinstance(value, str | bytes | int | float | bool | None):
        return
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        yield make_table(where, {str(name): list(value[name]) for name in value.columns})
        return
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        yield from walk_array(value, where)
        return
    if isinstance(value, Mapping):
        yield from walk_mapping(value, where, depth)
    elif isinstance(value, list | tuple | set):
        yield from walk_list(list(value)[:MOST_ROWS], where, depth)
    elif hasattr(value, "__dict__"):
        yield from walk_mapping(vars(value), where, depth)


def is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | bytes | int | float | bool)


def walk_array(array: object, where: str) -> Tables:
    if array.ndim == 0 or array.size == 0 or array.shape[0] > 4 * MOST_ROWS:
        return
    if array.ndim == 1:
        yield make_table(where, {"value": array[:MOST_ROWS].tolist()})
        return
    flat = array.reshape(array.shape[0], -1)[:MOST_ROWS]
    places = chosen(list(range(flat.shape[1])), MOST_COLUMNS)
    columns = {f"column {place}": flat[:, place].tolist() for place in places}
    if flat.shape[1] <= 64 and flat.dtype.kind in "fiu":
        columns["place of the largest"] = flat.argmax(axis=1).tolist()
    yield make_table(where, columns)


def walk_mapping(value: Mapping, where: str, depth: int) -> Tables:
    if len(value) > 8 and all(map(is_plain, value.values())):
        yield make_table(where, {"key": list(value), "value": list(value.values())})
        return
    if len(value) > 8 and all(isinstance(each, Mapping) for each in value.values()):
        yield from walk_list([{"key": key, **each} for key, each in value.items()], where, depth)
    if len(value) > 8 and all(isinstance(each, list | tuple) for each in value.values()):
        rows = [[key, *each] for key, each in value.items()]
        yield from walk_list(rows, where, depth)
    columns = {str(name): each for name, each in value.items() if flat_length(each) is not None}
    for length in {flat_length(each) for each in columns.values()}:
        same = {name: list(each) for name, each in columns.items() if flat_length(each) == length}
        if length is not None and length > 4:
            yield make_table(where, same)
    for name, each in islice(value.items(), MOST_MEMBERS):
        if name not in columns or hasattr(each, "shape"):
            yield from walk(each, f"{where} {name}", depth + 1)


def flat_length(value: object) -> int | None:
    if isinstance(value, list | tuple) and all(map(is_plain, value)):
        return len(value)
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        return len(value)
    return None


def walk_list(value: list, where: str, depth: int) -> Tables:
    if not value:
        return
    if all(map(is_plain, value)):
        if len(value) > 4:
            yield make_table(where, {"value": value})
        return
    if all(isinstance(each, Mapping) for each in value):
        rows = [flattened(each) for each in value]
        names = dict.fromkeys(name for row in rows for name in row)
        if len(names) < 2_000:
            yield make_table(where, {name: [row.get(name, "") for row in rows] for name in names})
    elif all(isinstance(each, list | tuple) for each in value):
        width = len(value[0])
        flat = all(len(each) == width and all(map(is_plain, each)) for each in value)
        if flat and len(value) > 1:
            yield make_table(where, columns_of(range(width), value))
            return
    for place, each in enumerate(value[:200]):
        yield from walk(each, f"{where}[{place}]", depth + 1)


def flattened(value: Mapping, prefix: str = "") -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, each in value.items():
        if isinstance(each, Mapping) and len(prefix) < 60:
            fields |= flattened(each, f"{prefix}{name}.")
        else:
            fields[f"{prefix}{name}"] = each if is_plain(each) else json.dumps(each, default=str)
    return fields
