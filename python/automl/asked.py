"""What is to be submitted where it is no table of CSV: as the starter's submission shows."""

import json
from pathlib import Path
from typing import Any

from automl.formats import read_table
from automl.look import Table, find_tables

Asked = tuple[str, str, list[list[Any]], list[str]]
NOTHING: Asked = ("", "", [], [])


def asked_by(submission: Path) -> Asked:
    """
    The table of the rows to predict, the column of their ids, the columns asked for, as in
    answers.py, and which of these are texts. Lines of JSON have the ids; an array has the order of
    a table.
    """
    if not submission.is_file():
        return NOTHING
    tables = [each for each in find_tables() if each.path.is_file()]
    if submission.suffix == ".npy":
        return asked_by_array(submission, tables)
    rows = [json.loads(line) for line in submission.read_text("utf-8").splitlines() if line.strip()]
    told = read_table(submission.as_posix())
    for table in tables:
        for name in told.keys() & table.cells.keys():
            if sorted(told[name]) == sorted(table.cells[name]) and name in ids_of(table):
                types = {each: type_of({type(row.get(each)) for row in rows}) for each in told}
                texts = [each for each in types if types[each] == "text"]
                del types[name]
                asked = [[*pair, -1e300, 1e300, []] for pair in types.items()]
                return table.path.as_posix(), name, asked, texts
    return NOTHING


def asked_by_array(submission: Path, tables: list[Table]) -> Asked:
    import numpy as np

    array = np.load(submission, allow_pickle=False)
    kinds = {"i": "integer", "u": "integer", "f": "number", "U": "text"}
    for table in tables if array.ndim == 1 and array.dtype.kind in kinds else []:
        if table.rows == len(array) and ids_of(table):
            asked = ["answer", kinds[array.dtype.kind], -1e300, 1e300, []]
            texts = ["answer"] if array.dtype.kind == "U" else []
            return table.path.as_posix(), ids_of(table)[0], [asked], texts
    return NOTHING


def ids_of(table: Table) -> list[str]:
    return [name for name, cells in table.cells.items() if len(set(cells)) == table.rows]


def type_of(types: set[type]) -> str:
    return "integer" if types == {int} else "number" if types <= {int, float} else "text"
