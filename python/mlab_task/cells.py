"""Reading one cell of a CSV submission as the type that its column declares."""

import math
import re
from dataclasses import dataclass

from mlab_task.declaration import Column

Value = float | int | str

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_LONGEST_NUMBER = 100

_BOOLEAN = {
    "true": "True",
    "1": "True",
    "1.0": "True",
    "false": "False",
    "0": "False",
    "0.0": "False",
}


@dataclass(frozen=True)
class Fault:
    """Why a cell was refused: a problem code, and what all cells with this fault have in common."""

    code: str
    summary: str


EMPTY = Fault(
    "not_a_number", "empty, where a number is expected (pandas writes NaN as an empty cell)"
)
NOT_A_NUMBER = Fault("not_a_number", "not a decimal number")
NOT_AN_INTEGER = Fault("not_a_number", "not a whole number")
IS_NAN = Fault("not_finite", "NaN")
IS_INFINITE = Fault("not_finite", "infinite, or too large for a 64-bit float")


def read_cell(text: str, column: Column) -> Value | Fault:
    """The cell's value, or what is wrong with it."""
    if column.type == "text":
        value: Value | Fault = text
    elif column.type == "integer":
        value = _integer(text)
    else:
        value = _number(text)
    if isinstance(value, Fault):
        return value
    return _allowed(text, value, column)


def _number(text: str) -> float | Fault:
    if text == "":
        return EMPTY
    if _NAN.fullmatch(text):
        return IS_NAN
    if _INFINITY.fullmatch(text):
        return IS_INFINITE
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return NOT_A_NUMBER
    value = float(text)
    return value if math.isfinite(value) else IS_INFINITE


def _integer(text: str) -> int | Fault:
    if len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    value = _number(text)
    if isinstance(value, Fault):
        return value
    return int(value) if value.is_integer() else NOT_AN_INTEGER


def _allowed(text: str, value: Value, column: Column) -> Value | Fault:
    if not isinstance(value, str):
        if column.min is not None and value < column.min:
            return Fault("out_of_range", f"below {column.min:g}")
        if column.max is not None and value > column.max:
            return Fault("out_of_range", f"above {column.max:g}")
    if column.values is None:
        return value
    if column.type != "text":
        known = {float(allowed) for allowed in column.values}
        return value if value in known else _not_one_of(column.values)
    if set(column.values) == {"True", "False"}:
        return _BOOLEAN.get(text.lower()) or _not_one_of(column.values)
    return value if value in column.values else _not_one_of(column.values)


def _not_one_of(values: tuple[str, ...]) -> Fault:
    shown = ", ".join(values[:10]) + (", ..." if len(values) > 10 else "")
    return Fault("not_allowed", f"none of {shown}")
