"""What is in the cells of tables: numbers, lists, and words made of parts."""

import re
from collections import Counter

GAPS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
LIST = re.compile(r"[\[({]?\s*([-+\d.eE]+(?:[\s,;|]+[-+\d.eE]+){3,})\s*[\])}]?")
"""At least four numbers in a cell."""
DATE = re.compile(r"\d{4}([-/.])\d\d?(\1\d|$)|\d\d?([-/.])\d\d?\3\d{4}")


def cleaned(cell: str) -> str:
    """Without blanks around it; empty if it stands for a gap."""
    cell = cell.strip()
    return "" if cell in GAPS else cell


def as_number(cell: str) -> float:
    """Also of an amount of money; not-a-number for anything else."""
    cell = cell.strip("$€£ ")
    try:
        number = float(cell.replace(",", "") if THOUSANDS.fullmatch(cell) else cell)
    except ValueError:
        return float("nan")
    # Python reads 12_01 as a number; a table does not mean one.
    return float("nan") if "_" in cell or abs(number) == float("inf") else number


def numbers_in(cell: str) -> list[float]:
    """Those of a list of at least four; none of anything else."""
    found = LIST.fullmatch(cell.strip())
    numbers = [as_number(each) for each in re.split(r"[\s,;|]+", found[1])] if found else []
    return numbers if all(each == each for each in numbers) else []


def parts_of(cells: list[str]) -> list[list[str]]:
    """The parts of texts such as B/0/P or 0013_01, where nearly all have as many; else none."""
    known = list(filter(None, cells))
    for mark in "/_|:-":
        usual, times = Counter(cell.count(mark) for cell in known).most_common(1)[0]
        if 1 <= usual <= 3 and times > 0.95 * len(known):
            split = [cell.split(mark) + [""] * usual for cell in cells]
            return [[parts[place] for parts in split] for place in range(usual + 1)]
    return []


def is_number(cell: str) -> bool:
    return as_number(cell) == as_number(cell)
