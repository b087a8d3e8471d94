"""Very simple descriptors straight from the SMILES string (no RDKit here)."""
import re

ATOM = re.compile(r"Cl|Br|[BCNOFSPIcnos]")
KINDS = ["C", "c", "N", "n", "O", "o", "S", "s", "F", "Cl", "Br"]


def describe(smiles):
    atoms = ATOM.findall(smiles)
    counts = [atoms.count(k) for k in KINDS]
    rings = len(re.findall(r"\d", smiles)) / 2
    return counts + [len(atoms), rings, smiles.count("="), smiles.count("#"), smiles.count("(")]
