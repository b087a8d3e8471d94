"""Reads submitted lines of JSON, which may hold anything."""

import json
from collections.abc import Collection
from typing import Any

from mlab_task.problems import Rejected, Tally, quoted


def checked_lines(
    content: bytes, path: str, id_name: str, ids: Collection[str]
) -> dict[str, dict[str, Any]]:
    """An object for each id, in any order; numbers as ids count as their texts.

    :raises Rejected: unreadable, wrong_columns, duplicate_ids, extra_ids or missing_ids
    """
    found: dict[str, dict[str, Any]] = {}
    asked = dict.fromkeys(ids)
    twice, extra = Tally(), Tally()
    for place, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode())
        except (ValueError, RecursionError):
            raise Rejected("unreadable", f"{path}: line {place} is not JSON in UTF-8") from None
        if not isinstance(row, dict) or not isinstance(row.get(id_name), str | int):
            message = f"{path}: line {place} is no object with {quoted(id_name)}"
            raise Rejected("wrong_columns", message)
        key = str(row[id_name])
        if key in found:
            twice.add(quoted(key))
        elif key not in asked:
            extra.add(quoted(key))
        found[key] = row
    missing = Tally()
    for each in asked:
        if each not in found:
            missing.add(quoted(each))
    for code, tally, what in (
        ("duplicate_ids", twice, "more than once"),
        ("extra_ids", extra, "not asked for"),
        ("missing_ids", missing, "missing"),
    ):
        if tally.count > 0:
            raise Rejected(code, f"{path}: {what}: {tally.describe()}")
    return found
