"""Solubilities: 30 % of the molecules are hidden, in whole groups that share a scaffold."""

import os
import sys
from statistics import fmean

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from rdkit import Chem
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, read_table, write_hidden_test, write_table
from mlab_task.splitting import hold_out_groups

HIDDEN_SHARE = 0.3
# Molecules without rings (which share the empty scaffold) and benzenes are not new scaffolds.
LARGEST_SHARE = 0.03


def read_molecules(header: list[str], rows: list[list[str]]) -> dict[str, float]:
    """Canonical SMILES and the measured logarithm of the solubility in mol/L.

    The other columns are left out: a name can be looked up, and one column is a prediction of
    the solubility. A molecule that occurs repeatedly gets the mean of its measurements.
    """
    smiles = header.index("smiles")
    measured = header.index("measured log solubility in mols per litre")
    values: dict[str, list[float]] = {}
    for row in rows:
        molecule = Chem.MolFromSmiles(row[smiles].strip())
        if molecule is None:
            raise ValueError(f"not a molecule: {row[smiles]}")
        values.setdefault(Chem.MolToSmiles(molecule), []).append(float(row[measured]))
    return {molecule: round(fmean(found), 4) for molecule, found in values.items()}


def main() -> None:
    folders = read_folders()
    molecules = read_molecules(*read_table(folders.downloads / "delaney-processed.csv"))
    smiles = list(molecules)
    ordered = [smiles[place] for place in order_by_content([[text] for text in smiles])]
    scaffolds = [MurckoScaffoldSmiles(text) for text in ordered]
    hidden = hold_out_groups(scaffolds, HIDDEN_SHARE, LARGEST_SHARE)

    header = ["id", "smiles", "log_solubility"]
    rows = [[number, text, molecules[text]] for number, text in enumerate(ordered)]
    shown = [row for row, is_hidden in zip(rows, hidden, strict=True) if not is_hidden]
    write_table(folders.public / "train.csv", header, shown)
    tested = [row for row, is_hidden in zip(rows, hidden, strict=True) if is_hidden]
    write_hidden_test(folders, header, tested, "id", "log_solubility")


if __name__ == "__main__":
    main()
