"""Reads Python values as tables: from JSON, pickles and libraries."""

import json
from collections.abc import Mapping
from itertools import islice

from tables import MOST_COLUMNS, MOST_ROWS, Tables, chosen, columns_of, make_table

MOST_MEMBERS = 5_000
# Of tables with a row per element: of how many fields, and how many values of other fields.
MOST_LISTS, MOST_CELLS = 8, 10**6
# How many fields all objects together may have for each field that one of them has.
SPARSEST = 4


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
        yield from walk_objects(value, where)
    if value and all(isinstance(each, list | tuple) for each in value.values()):
        same_length = len({len(each) for each in value.values()}) == 1
        if len(value) > 8 and same_length:
            yield from walk_list([[key, *each] for key, each in value.items()], where, depth)
        if len(value) > 8 or not same_length:
            yield from walk_lists(value, where)
    columns = {str(name): each for name, each in value.items() if flat_length(each) is not None}
    for length in {flat_length(each) for each in columns.values()}:
        same = {name: list(each) for name, each in columns.items() if flat_length(each) == length}
        if length is not None and length > 4:
            yield make_table(where, same)
    for name, each in islice(value.items(), MOST_MEMBERS):
        if name not in columns or hasattr(each, "shape"):
            yield from walk(each, f"{where} {name}", depth + 1)


def walk_objects(value: Mapping, where: str) -> Tables:
    """A row per key with the fields; or one per field, if nearly each key has fields of its own."""
    names = {name for each in value.values() for name in each}
    if len(names) * len(value) <= SPARSEST * sum(map(len, value.values())):
        yield from walk_records([{"key": key, **each} for key, each in value.items()], where)
        return
    fields = {
        key: [{"key": name, "value": field} for name, field in each.items()]
        for key, each in value.items()
    }
    yield from walk_lists(fields, where)


def walk_lists(value: Mapping, where: str) -> Tables:
    """A row per element, with the key of its list; unless the elements are lists themselves."""
    if not any(isinstance(each, list | tuple) for members in value.values() for each in members):
        records = [{"key": key, "value": members} for key, members in value.items()]
        yield from walk_records(records[:MOST_ROWS], where)


def walk_records(value: list, where: str) -> Tables:
    """A table of the records; and for each field with lists, one of their elements."""
    rows = [flattened(each) for each in value]
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) >= 2_000:
        return
    yield make_table(where, {name: [as_plain(row.get(name, "")) for row in rows] for name in names})
    lists = [name for name in names if any(isinstance(row.get(name), list) for row in rows)]
    for name in lists[:MOST_LISTS]:
        others = [other for other in names if other not in lists]
        yield from unfolded(rows, name, others, where)


def unfolded(rows: list[dict], name: str, others: list[str], where: str) -> Tables:
    """A row per element of one field, with the record's other fields."""
    all_elements = (
        (row, element)
        for row in rows
        for element in (row[name] if isinstance(row.get(name), list) else [row.get(name, "")])
    )
    elements = list(islice(all_elements, MOST_ROWS))
    kept = others[: max(1, MOST_CELLS // max(1, len(elements)))]
    fields = [flattened({name: element}) for _, element in elements]
    # Lists within elements are left out: as one text, common ones would look like copied texts.
    found = dict.fromkeys(
        field for each in fields for field, inner in each.items() if is_plain(inner)
    )
    if 0 < len(found) < 2_000:
        columns = {other: [row.get(other, "") for row, _ in elements] for other in kept}
        columns |= {
            field: [inner if is_plain(inner := each.get(field)) else "" for each in fields]
            for field in found
        }
        yield make_table(where, columns)


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
        yield from walk_records(value, where)
    elif all(isinstance(each, list | tuple) for each in value):
        width = len(value[0])
        flat = all(len(each) == width and all(map(is_plain, each)) for each in value)
        if flat and len(value) > 1:
            yield make_table(where, columns_of(range(width), value))
            return
        yield from walk_lists(dict(enumerate(value)), where)
    for place, each in enumerate(value[:200]):
        yield from walk(each, f"{where}[{place}]", depth + 1)


def flattened(value: Mapping, prefix: str = "") -> dict[str, object]:
    """The fields of inner objects, with both names; lists stay lists."""
    fields: dict[str, object] = {}
    for name, each in value.items():
        if isinstance(each, Mapping) and len(prefix) < 60:
            fields |= flattened(each, f"{prefix}{name}.")
        else:
            fields[f"{prefix}{name}"] = list(each) if isinstance(each, tuple) else each
    return fields


def as_plain(value: object) -> object:
    return value if is_plain(value) else json.dumps(value, default=str)
