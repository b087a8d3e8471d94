"""Makes up compounds from fragments; activity follows from a few pharmacophores."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.preparing import read_folders, write_table

CORES = ["c1ccc({})cc1{}", "c1cc({})ccc1{}", "c1cnc({})cc1{}", "c1csc({})n1{}", "C1CCN({})CC1{}", "c1ccc2[nH]c({})cc2c1{}",
         "C1CN({})CCN1{}", "c1coc({})c1{}", "C1CCC({})CC1{}", "c1nnc({})o1{}", "c1ccc2nc({})sc2c1{}"]
CAPS = ["C", "CC", "C(C)C", "F", "Cl", "Br", "OC", "C(F)(F)F", "C#N", "C(=O)O", "N(C)C", "N1CCOCC1", "[N+](=O)[O-]", "O", "N",
        "C(C)(C)C", "OCC", "S(C)(=O)=O", "NC(C)=O"]
LINKS = ["C", "CC", "C(=O)N", "NC(=O)", "S(=O)(=O)N", "NS(=O)(=O)", "O", "CO", "N", "C=C", "C(=O)", "OCC", "NC(=O)N", "SC"]


def molecule(rng):
    left, right, cap1, cap2 = rng.choice(CORES), rng.choice(CORES), rng.choice(CAPS), rng.choice(CAPS)
    link, extra = rng.choice(LINKS), rng.choice(CAPS + [""] * 8)
    cut = right.replace("{}", "", 1).replace("()", "")
    smiles = cap1 + left.format(link + cut.format(cap2), extra)
    aromatic = sum(core[0] == "c" for core in (left, right))
    sulfonamide, urea = "S(=O)(=O)" in link, link in ("NC(=O)N", "C(=O)N")
    thiazole = "csc" in left + right or "sc2" in left + right
    lipo = sum(c in (cap1, cap2, extra) for c in ("C(F)(F)F", "Cl", "Br", "C(C)(C)C"))
    acid, nitro = "C(=O)O" in (cap1, cap2), "[N+](=O)[O-]" in (cap1, cap2, extra)
    morpholine = "N1CCOCC1" in (cap1, cap2, extra)
    logit = -5.6 + 2.3 * thiazole * (sulfonamide or urea) + 2.0 * sulfonamide * (lipo > 0) + 0.9 * lipo
    logit += 1.3 * morpholine * aromatic - 2.5 * acid + 1.2 * nitro + 0.4 * aromatic + 0.8 * thiazole
    return str(smiles), logit * 1.35 + 0.3


def main():
    folders, rng = read_folders(), np.random.default_rng(5012)
    known = {}
    while len(known) < 5000:
        smiles, logit = molecule(rng)
        known.setdefault(smiles, logit)
    smiles = list(known)
    active = (rng.random(5000) < 1 / (1 + np.exp(-np.array(list(known.values()))))).astype(int)
    ids = [f"BF-{number:05d}" for number in rng.permutation(90000)[:5000] + 1000]
    write_table(folders.public / "vendor.csv", ["compound", "vendor", "plate", "purity", "price_class"], [
        [ids[i], rng.choice(["Enara", "MolBox", "Keyline"]), f"P{rng.integers(1, 63):02d}",
         "" if rng.random() < 0.12 else round(float(100 - rng.gamma(2, 2)), 1), rng.choice(list("ABC"))]
        for i in rng.permutation(5000)])
    (folders.public / "screened.smi").write_text("".join(f"{smiles[i]}\t{ids[i]}\t{active[i]}\n" for i in range(2600)))
    write_table(folders.public / "unscreened.csv", ["compound", "smiles"], [[ids[i], smiles[i]] for i in range(2600, 5000)])
    write_table(folders.private / "activity.csv", ["compound", "active"], [[ids[i], active[i]] for i in range(2600, 5000)])


main()
