"""Arrays to learn from and to predict, whose rows have the same shape."""

import re
from collections import Counter
from math import prod
from typing import Any

from automl.answers import (
    ASKED,
    ID,
    NAMES,
    Answers,
    Source,
    answers_in,
    classes_of,
    kinds_of,
)
from automl.look import Array, Column, Table, find_arrays

LABEL_NAME = re.compile(r"label|target|class|(?:^|[/_])y(?:[_.]|$)", re.IGNORECASE)


def find_pair(test: Table, tables: list[Table]) -> Source | None:
    """
    Two arrays whose rows have the same shape, with labels for the rows of one and ids for those of
    the other.
    """
    arrays = find_arrays()
    ids = test.cells[ID]
    highest = max(map(int, ids)) if ids and all(map(str.isdecimal, ids)) else -1

    def worth(pair: tuple[Array, Array]) -> float:
        """Names are only hints."""
        known, asked = ((each.path + each.key).lower() for each in pair)
        hints = ["train" in known, "test" in asked, "test" not in asked]
        return sum(hints) + (pair[0].shape[0] > pair[1].shape[0]) / 2

    def has_both(array: Array) -> bool:
        """Rows that tables tell the places of."""
        return array.shape[0] > test.rows and 0 <= highest < array.shape[0]

    pairs = [
        (known, asked)
        for known in arrays
        for asked in arrays
        if (known is not asked or has_both(known))
        and len(known.shape) > 1
        and known.kind == asked.kind != "U"
        and known.shape[1:] == asked.shape[1:]
        and (asked.shape[0] == test.rows or 0 <= highest < asked.shape[0])
    ]
    for known, asked in sorted(pairs, key=worth, reverse=True):
        place, answers = find_labels(test, tables, arrays, known, asked)
        if answers is None:
            continue
        settings: dict[str, Any] = {
            "TRAIN_ARRAY": [known.path, known.key],
            "TEST_ARRAY": [asked.path, asked.key],
            "BY_PLACE": 0 <= highest < asked.shape[0],
        }
        if isinstance(place, Table):
            settings["TRAIN"] = [place.path.as_posix()]
        else:
            settings["LABELS"] = place
        columns = kinds_of(test, place) if isinstance(place, Table) else Counter[str]()
        row = known.shape[1:]
        name = f"{known.path} {known.key}".strip() + f" (each {' x '.join(map(str, row))})"
        more = (columns, prod(row) > 300, is_picture(row))
        rows = known.shape[0] - (test.rows if known is asked else 0)
        return Source("arrays", name, settings, rows, *answers, *more)
    return None


def find_labels(
    test: Table, tables: list[Table], arrays: list[Array], train: Array, asked: Array
) -> tuple[list[str] | Table, Answers | None]:
    """An array, or a table in the same order; of an array of all rows, a table of places."""
    for renamed in (False, True):
        for table in tables:
            fits = table.rows == train.shape[0]
            if train is asked:
                places = table.cells.get(ID, [])
                are_places = all(each.isdecimal() for each in places) and len(places) > 0
                fits = are_places and max(map(int, places)) < train.shape[0]
                fits &= not set(places) & set(test.cells[ID])
            answers = answers_in(test, table, renamed) if fits else None
            if answers:
                return table, answers
    if train is asked:
        return [], None
    # What is known of the rows to predict, too, is not asked for.
    known = {each.key for each in arrays if train.path != each.path == asked.path and each.key}
    values = set(ASKED[0][4])
    fitting = [
        array
        for array in arrays
        if array.shape[0] == train.shape[0] and len(array.shape) <= 2 and array is not train
        if array.key not in known and (not values or values >= set(array.values))
    ]

    def order(array: Array) -> tuple[bool, bool]:
        is_named = LABEL_NAME.search(f"{array.path}/{array.key}") is not None
        return array.key not in NAMES, not is_named

    for array in sorted(fitting, key=order):
        width = prod(array.shape[1:])
        by_class = width == 1 and bool(classes_of(NAMES, array.values))
        if by_class or (width == len(NAMES) and array.shape[1:] != train.shape[1:]):
            are_labels = (array.kind, array.least, array.most) in (("i", 0, 1), ("u", 0, 1))
            values = ["0", "1"] if are_labels and width > 1 else array.values
            about = (array.kind not in "Ub", len(values), values)
            targets = [Column(name, *about) for name in (NAMES[:1] if by_class else NAMES)]
            return [array.path, array.key], Answers(targets, by_class)
    return [], None


def is_picture(row: list[int]) -> bool:
    """Height, width and up to four channels, which come first or last."""
    if len(row) == 2:
        return row[0] == row[1] >= 6
    ways = (row, row[::-1]) if len(row) == 3 else ()
    return any(channels <= 4 and min(sides) >= 6 for channels, *sides in ways)
