"""Prints as one line of JSON what the data folder holds, and which packages there are."""

import json
import sys
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from automl.formats import is_table, rows_of

# What the task asks for.
TEST = "data/test.csv"
ID = "id"
WANTED = ["target"]

PACKAGES = ("numpy", "pandas", "scipy", "sklearn", "torch", "PIL", "rdkit")
MOST_TABLES = 12
MOST_ROWS = 20_000
MOST_COLUMNS = 40
MOST_VALUES = 200
MOST_CHARACTERS = 4_000
MOST_ARRAYS = 24
MOST_FOLDERS = 400
MOST_NUMBERS = 50_000_000
# Kinds of files that can be read as texts or pictures.
ENDINGS = (".txt", ".md", ".html", ".png", ".jpg", ".jpeg", ".bmp", ".gif")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    # Python reads 12_01 as a number; a table does not mean one.
    return "_" not in text


def read_head(path: Path) -> tuple[list[str], list[list[str]], int]:
    """Names of the columns, the first rows, and how many rows there are in all."""
    rows = rows_of(path)
    header = next(rows, [])
    first = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    return header, first, len(first) + sum(1 for _ in rows)


def describe(name: str, cells: list[str]) -> dict[str, Any]:
    known = [cell.strip() for cell in cells if cell.strip() not in ("", "NA", "NaN", "nan")]
    values = sorted(set(known))
    is_short = len(values) <= MOST_VALUES and sum(map(len, values)) <= MOST_CHARACTERS
    return {
        "name": name,
        "known": len(known),
        "distinct": len(values),
        "numeric": bool(known) and all(map(is_number, known)),
        "values": values if is_short else [],
    }


def kind_of(cells: list[str]) -> str:
    """How a column is likely to be used: `text`, `letters`, `number` or `name`."""
    known = [cell.strip() for cell in cells if cell.strip()]
    if sum(map(is_number, known)) >= 0.3 * len(known):
        return "number"
    words = sum(len(cell.split()) for cell in known)
    if len(set(known)) > len(known) / 2 and words >= 2.5 * len(known):
        return "text"
    is_long = sum(map(len, known)) >= 5 * len(known) and words <= 1.05 * len(known)
    return "letters" if is_long and len(set(known)) >= len(known) / 2 else "name"


def look(path: Path, test_columns: list[str]) -> dict[str, Any]:
    header, rows, total = read_head(path)
    shared = [name for name in header if name in test_columns and name not in (ID, *WANTED)]

    def cells(name: str) -> list[str]:
        place = header.index(name)
        return [row[place] for row in rows if place < len(row)]

    more = [name for name in header if name not in test_columns]
    more.sort(key=lambda name: name not in WANTED)
    kinds = Counter(kind_of(cells(name)) for name in shared)
    ids = cells(ID) if ID in header else []
    return {
        "path": path.as_posix(),
        "rows": total,
        "has_id": ID in header,
        # The ids are the places of rows, all of them or some.
        "highest_id": max(map(int, ids)) if ids and all(map(str.isdecimal, ids)) else None,
        "shared": len(shared),
        "kinds": {kind: kinds[kind] for kind in ("text", "letters", "number", "name")},
        "more": [describe(name, cells(name)) for name in more[:MOST_COLUMNS]],
        "files": [found for name in header if (found := files_of(name, cells(name), path))],
    }


def files_of(name: str, cells: list[str], table: Path) -> dict[str, str] | None:
    """Where the files are that the cells of a column name, and which ending the cells lack."""
    some = [cell.strip() for cell in cells[:20]]
    if not some or any(cell == "" or len(cell) > 200 for cell in some):
        return None
    below = sorted(each for each in Path("data").rglob("*") if each.is_dir())
    folders = [Path(), table.parent, *below]
    for folder in folders[:MOST_FOLDERS]:
        for suffix in ("", *ENDINGS):
            if all(Path(folder, cell + suffix).is_file() for cell in some):
                ending = Path(some[0] + suffix).suffix.lower()
                place = {"column": name, "folder": folder.as_posix(), "suffix": suffix}
                return {**place, "ending": ending} if ending in ENDINGS else None
    return None


def look_at_array(path: Path) -> list[dict[str, Any]]:
    import numpy as np

    read = np.load(path, allow_pickle=False, mmap_mode=None if path.suffix == ".npz" else "r")
    named = {key: read[key] for key in read.files} if path.suffix == ".npz" else {"": read}
    return [
        {
            "path": path.as_posix(),
            "key": key,
            "shape": list(array.shape),
            "kind": array.dtype.kind,
            **ends_of(array),
            # Few values may be classes.
            "values": [str(value) for value in np.unique(array).tolist()[:MOST_VALUES]]
            if array.ndim == 1 and array.dtype.kind in "iubU" and len(array) > 0
            else [],
        }
        for key, array in named.items()
        if array.ndim > 0 and array.dtype.kind in "iufbU"
    ]


def ends_of(array: Any) -> dict[str, int | None]:
    """The least and the greatest of whole numbers."""
    if array.dtype.kind not in "iu" or not 0 < array.size <= MOST_NUMBERS:
        return {"least": None, "most": None}
    return {"least": int(array.min()), "most": int(array.max())}


def look_at_arrays() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    paths = sorted([*Path("data").rglob("*.npy"), *Path("data").rglob("*.npz")])
    for path in paths[:MOST_ARRAYS]:
        try:
            found += look_at_array(path)
        except (OSError, ValueError):
            # Objects that only Python itself can read are none of our business.
            continue
    return found


def look_at_folders() -> list[dict[str, Any]]:
    """Folders of folders with files of one kind: each may be a class."""
    found = []
    parents = [path for path in sorted(Path("data").rglob("*")) if path.is_dir()]
    for parent in parents[:MOST_FOLDERS]:
        classes = sorted(each for each in parent.iterdir() if each.is_dir())
        endings = Counter(
            file.suffix.lower() for each in classes for file in each.iterdir() if file.is_file()
        )
        if len(classes) < 2 or not endings or endings.most_common(1)[0][0] not in ENDINGS:
            continue
        ending, files = endings.most_common(1)[0]
        names = [each.name for each in classes][:MOST_VALUES]
        place = {"path": parent.as_posix(), "ending": ending}
        found.append({**place, "classes": names, "files": files})
    return found


def look_at_tables(test_columns: list[str]) -> list[dict[str, Any]]:
    found = []
    for path in [path for path in sorted(Path("data").rglob("*")) if is_table(path)][:MOST_TABLES]:
        try:
            found.append(look(path, test_columns))
        except (OSError, ValueError, AttributeError, TypeError):
            # No table in spite of its name.
            continue
    return found


def rows_to_predict() -> Path:
    """TEST, or the table with the rows of its ids if it has nothing but the ids."""
    test = Path(TEST)
    if not test.is_file() or read_head(test)[0] != [ID]:
        return test
    ids = sorted(row[0] for row in list(rows_of(test))[1:] if row)
    for path in sorted(Path("data").rglob("*")):
        with suppress(OSError, ValueError, AttributeError, TypeError, IndexError):
            if is_table(path) and path != test:
                header, *rows = rows_of(path)
                is_answer = any(name in WANTED for name in header)
                if (
                    ID in header
                    and not is_answer
                    and sorted(row[header.index(ID)] for row in rows) == ids
                ):
                    return path
    return test


def look_at_data() -> None:
    test = rows_to_predict()
    test_columns = read_head(test)[0] if test.is_file() else []
    packages = [name for name in PACKAGES if find_spec(name) is not None]
    found = {
        "packages": packages,
        "rows_to_predict": test.as_posix(),
        "given": [name for name in WANTED if name in test_columns],
        "tables": look_at_tables(test_columns),
        "arrays": look_at_arrays() if "numpy" in packages else [],
        "folders": look_at_folders(),
    }
    sys.stdout.write(f"TABLES {json.dumps(found)}\n")
