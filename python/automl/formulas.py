"""Chemical formulas: the share of each element, and what its properties amount to."""

import numpy as np

from automl.cells import amounts_in, as_number
from automl.data import Data
from automl.formats import read_table

PROPERTIES = ["", ""]
"""A table with a row for each element, and the column that has their symbols."""
RARE = 0.01
"""The share of the rows with an element, below which it has no column."""


def add_formulas(name: str, cells: list[str], data: Data) -> bool:
    found = [amounts_in(cell) for cell in cells]
    if sum(map(bool, found)) < 0.95 * sum(map(bool, cells)):
        return False
    elements = sorted({element for each in found for element in each})
    amounts = np.array([[each.get(element, 0) for element in elements] for each in found], float)
    total = np.maximum(amounts.sum(axis=1, keepdims=True), 1e-12)
    shares = amounts / total
    data.numbers[f"{name} atoms"] = total[:, 0]
    data.numbers[f"{name} elements"] = (amounts > 0).sum(axis=1).astype(float)
    for element, share in zip(elements, shares.T, strict=True):
        if np.mean(share > 0) >= RARE:
            data.numbers[f"{name} share of {element}"] = share
    for label, values in properties_of(elements).items():
        known = np.where(np.isnan(values), 0, shares)
        weights = known / np.maximum(known.sum(axis=1, keepdims=True), 1e-12)
        mean = weights @ np.nan_to_num(values)
        apart = np.sqrt((weights * (np.nan_to_num(values) - mean[:, None]) ** 2).sum(axis=1))
        there = np.where(known > 0, values, np.nan)
        measures = {"mean": mean, "spread": apart}
        measures |= {"least": np.fmin.reduce(there, 1), "most": np.fmax.reduce(there, 1)}
        data.numbers |= {f"{name} {each} {label}": column for each, column in measures.items()}
    return True


def properties_of(elements: list[str]) -> dict[str, np.ndarray]:
    """Numbers of the elements, by the name of the property; gaps are not-a-number."""
    path, symbol = PROPERTIES
    table = read_table(path) if path else {}
    rows = {each.strip(): row for row, each in enumerate(table.get(symbol, []))}
    found = {}
    for name, cells in table.items():
        told = [as_number(cells[rows[each]]) if each in rows else np.nan for each in elements]
        if name != symbol and np.mean(np.isnan(told)) < 0.5:
            found[name] = np.array(told, float)
    return found
