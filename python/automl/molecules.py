"""Notations of molecules, by the descriptors of RDKit."""

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, rdFingerprintGenerator
from scipy import sparse

from automl.data import Data
from automl.pieces import add_pieces


def add_molecules(name: str, cells: list[str], data: Data) -> bool:
    """What is known of a molecule from its bonds: 200 descriptors, and pieces of its structure."""
    RDLogger.DisableLog("rdApp.*")
    known = [cell for cell in cells[:200] if cell != ""]
    read = [Chem.MolFromSmiles(cell) for cell in known]
    if sum(each is not None and each.GetNumAtoms() > 2 for each in read) < 0.9 * len(known):
        return False
    molecules = [Chem.MolFromSmiles(cell) for cell in cells]
    for descriptor, count in Descriptors.descList:
        column = np.array([np.nan if each is None else count(each) for each in molecules], float)
        column[~(np.abs(column) < 1e6)] = np.nan
        if np.isnan(column).mean() < 0.5:
            data.numbers[f"{name} {descriptor}"] = column
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    empty = np.zeros(1024)
    pieces = [
        empty if each is None else generator.GetCountFingerprintAsNumPy(each) for each in molecules
    ]
    data.words.append(0.2 * sparse.csr_matrix(np.log1p(np.array(pieces, float))))
    add_pieces(name, cells, data)
    return True
