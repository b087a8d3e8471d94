"""Synthetic molecules in the original table format: solubility depends on logP, size and more.

The measured value is 0.5 - 0.9 logP - 0.006 M - 0.8 A + 0.05 R + 0.25 D and noise: logP by
Crippen's atom contributions, M the molar mass in g/mol, A the share of aromatic atoms among the
heavy atoms, R the number of rotatable bonds, D the number of hydrogen bond donors. (The form, not
the numbers, is that of Delaney, J. Chem. Inf. Comput. Sci. 44, 1000, 2004.)
"""

import os
import sys

import numpy as np
from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

MOLECULES = 500
NOISE = 0.3
MOST_GROUPS = 3
# Cores of the molecules: a chain, benzene, or one of many ring systems.
CORE_SHARES = (0.25, 0.2, 0.55)
CHAINS = ("CC", "CCC", "CCCC", "CCCCCC", "CC(C)C", "C=CC", "COC", "CC(=O)C", "CCOCC", "CCSCC")
RINGS = (
    "c1ccc2ccccc2c1 c1ccncc1 c1cncnc1 c1ccoc1 c1ccsc1 c1c[nH]cn1 C1CCCCC1 C1CCCC1 C1CCOCC1 "
    "C1CNCCN1 C1COCCN1 c1ccc2[nH]ccc2c1 c1ccc2nsnc2c1 c1ccc(cc1)-c1ccccc1 "
    "c1ccc(cc1)Cc1ccccc1 C1CC1 c1ccc(cc1)Oc1ccccc1 O=C1CCCC=C1 O=C1CCCN1 c1ccc2c(c1)OCO2 "
    "c1ccc2c(c1)CCC2 c1ccc2ncccc2c1 C1CC2CCC1C2 c1cnc2ccccc2n1 O=C1NC(=O)NC(=O)C1 "
    "O=c1[nH]cnc2[nH]cnc12 c1ccc2occc2c1 C1CNCCC1 c1ccc2sccc2c1 c1cn[nH]c1 c1cnoc1 c1cscn1 "
    "O=C1CCCC1 c1ccc2c(c1)ccc1ccccc12 c1ncnc(n1) c1ccc(cc1)C1CCCCC1 c1ccc(cc1)CCc1ccccc1 "
    "c1ccc2c(c1)Cc1ccccc12 O=C1OC=Cc2ccccc12 C1CCNC1"
).split()
GROUPS = (
    "C CC CCC C(C)C C(C)(C)C CCCC CCCCC O OC OCC N N(C)C NC(C)=O C(=O)O C(=O)OC C(=O)OCC C(N)=O F "
    "Cl Cl Br C(F)(F)F C#N [N+](=O)[O-] S(N)(=O)=O SC CO CCO C(C)=O C=O C(Cl)Cl c1ccccc1 C1CCCCC1"
).split()
HEADER = [
    "Compound ID",
    "ESOL predicted log solubility in mols per litre",
    "Minimum Degree",
    "Molecular Weight",
    "Number of H-Bond Donors",
    "Number of Rings",
    "Number of Rotatable Bonds",
    "Polar Surface Area",
    "measured log solubility in mols per litre",
    "smiles",
]


def attach(random: np.random.Generator, core: Chem.Mol, group: Chem.Mol) -> Chem.Mol:
    """Bonds the first atom of a group to an atom of the core that has a free hydrogen."""
    sites = [atom.GetIdx() for atom in core.GetAtoms() if atom.GetNumImplicitHs() > 0]
    if not sites:
        return core
    molecule = Chem.RWMol(Chem.CombineMols(core, group))
    molecule.AddBond(int(random.choice(sites)), core.GetNumAtoms(), Chem.BondType.SINGLE)
    Chem.SanitizeMol(molecule)
    return molecule.GetMol()


def make_molecule(random: np.random.Generator) -> Chem.Mol:
    """A core with up to MOST_GROUPS groups."""
    kind = random.choice(3, p=CORE_SHARES)
    core = str(random.choice((CHAINS, ("c1ccccc1",), RINGS)[kind]))
    molecule = Chem.MolFromSmiles(core)
    for _ in range(random.integers(1, MOST_GROUPS + 1)):
        molecule = attach(random, molecule, Chem.MolFromSmiles(str(random.choice(GROUPS))))
    return molecule


def make_row(random: np.random.Generator, number: int, molecule: Chem.Mol) -> list[object]:
    """The columns of HEADER."""
    mass = Descriptors.MolWt(molecule)
    aromatic = sum(atom.GetIsAromatic() for atom in molecule.GetAtoms())
    rotatable = rdMolDescriptors.CalcNumRotatableBonds(molecule)
    donors = rdMolDescriptors.CalcNumHBD(molecule)
    solubility = (
        0.5
        - 0.9 * Crippen.MolLogP(molecule)
        - 0.006 * mass
        - 0.8 * aromatic / molecule.GetNumHeavyAtoms()
        + 0.05 * rotatable
        + 0.25 * donors
    )
    return [
        f"compound {number}",
        round(solubility, 3),
        min(atom.GetDegree() for atom in molecule.GetAtoms()),
        round(mass, 3),
        donors,
        rdMolDescriptors.CalcNumRings(molecule),
        rotatable,
        round(rdMolDescriptors.CalcTPSA(molecule), 2),
        round(solubility + random.normal(0, NOISE), 3),
        Chem.MolToSmiles(molecule),
    ]


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    rows = [make_row(random, number, make_molecule(random)) for number in range(MOLECULES)]
    write_table(sample.downloads / "delaney-processed.csv", HEADER, rows)


if __name__ == "__main__":
    main()
