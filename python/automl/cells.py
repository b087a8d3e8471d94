"""What is in the cells of tables: numbers, lists, formulas, and words made of parts."""

import re
from collections import Counter, defaultdict

GAPS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
LIST = re.compile(r"[\[({]?\s*([-+\d.eE]+(?:[\s,;|]+[-+\d.eE]+){3,})\s*[\])}]?")
"""At least four numbers in a cell."""
DATE = re.compile(r"\d{4}([-/.])\d\d?(\1\d|$)|\d\d?([-/.])\d\d?\3\d{4}")
ELEMENTS = set(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb "
    "Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu".split()
)
ATOMS = re.compile(r"([A-Z][a-z]?|\(|\))(\d+(?:\.\d+)?)?")
SIDE = re.compile(
    r"(?<![a-z0-9])(?:left|right|first|second|[ablrxy12])(?![a-z0-9])|(?<=[a-z])[12]$",
    re.IGNORECASE,
)
"""What tells the names of two columns of the same kind apart, as `name_a` and `name_b`."""


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


def amounts_in(formula: str) -> dict[str, float]:
    """How much of each element a formula has, as Mg(AlO2)2; nothing if it is none."""
    if "".join(found[0] for found in ATOMS.finditer(formula)) != formula:
        return {}
    levels: list[dict[str, float]] = [{}]
    for symbol, number in ATOMS.findall(formula):
        if symbol == "(":
            levels.append({})
            continue
        inner = {symbol: 1.0} if symbol != ")" else levels.pop()
        if not levels or not inner.keys() <= ELEMENTS:
            return {}
        for each, amount in inner.items():
            levels[-1][each] = levels[-1].get(each, 0) + float(number or 1) * amount
    return levels[0] if len(levels) == 1 else {}


def parts_of(cells: list[str]) -> list[list[str]]:
    """The parts of texts such as B/0/P or 0013_01, where nearly all have as many; else none."""
    known = list(filter(None, cells))
    for mark in "/_|:-":
        usual, times = Counter(cell.count(mark) for cell in known).most_common(1)[0]
        if 1 <= usual <= 3 and times > 0.95 * len(known):
            split = [cell.split(mark) + [""] * usual for cell in cells]
            return [[parts[place] for parts in split] for place in range(usual + 1)]
    return []


def labels_in(cells: list[str]) -> tuple[str, list[str]]:
    """
    What stands between the labels of one cell, as in `noise;waste`, and all labels; nothing where
    cells are no lists of labels, few of which make many different cells of several lengths.
    """
    known = set(filter(None, cells))
    for mark in (";", "|", ",", "/", "+", " "):
        several = [cell for cell in known if mark in cell]
        usual = Counter(cell.count(mark) for cell in cells if cell).most_common(1)
        if not several or usual[0][1] > 0.9 * len(cells):
            continue
        labels = sorted({each.strip() for cell in known for each in cell.split(mark)})
        if len(several) > 0.5 * len(known) and 1.5 * len(labels) < len(known) and "" not in labels:
            is_spaced = sum(f"{mark} " in cell for cell in several) > 0.5 * len(several)
            return mark + " " * is_spaced, labels
    return "", []


def counterparts(names: list[str]) -> list[tuple[str, str]]:
    """Two columns of the same kind each, as the names in pairs of records."""
    alike = defaultdict[str, list[str]](list)
    for name in names:
        if SIDE.search(name):
            alike[SIDE.sub("#", name)].append(name)
    return [(same[0], same[1]) for same in alike.values() if len(same) == 2]


def is_number(cell: str) -> bool:
    return as_number(cell) == as_number(cell)
