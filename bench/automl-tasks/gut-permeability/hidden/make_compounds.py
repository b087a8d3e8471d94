"""Made compounds.tsv once: 1,500 assembled molecules with an invented permeability. Not run by mlab."""

import math
import random
from pathlib import Path

# (SMILES, lipophilicity, polar surface, donors, heavy atoms)
SCAFFOLDS = [
    ("c1cc({0})ccc1{1}", 2.0, 0, 0, 6), ("c1c({0})cccc1{1}", 2.0, 0, 0, 6), ("c1cccc({0})c1{1}", 2.0, 0, 0, 6),
    ("c1cc({0})cnc1{1}", 0.7, 13, 0, 6), ("c1c({0})ncnc1{1}", 0.0, 26, 0, 6),
    ("c1ccc2c(c1{0})ccc({1})c2", 3.2, 0, 0, 10), ("c1ccc2c(c1)c({0})c({1})[nH]2", 2.1, 16, 1, 9),
    ("c1ccc2nc({0})c({1})nc2c1", 1.3, 26, 0, 10), ("C1CN({0})CCN1{1}", 0.3, 6, 0, 6),
    ("C1CC({0})CCC1{1}", 2.4, 0, 0, 6), ("C1CN({0})CCC1{1}", 1.0, 3, 0, 6), ("C1C({0})OCCN1{1}", 0.1, 12, 0, 6),
    ("c1c({0})sc({1})n1", 1.1, 13, 0, 5), ("c1c({0})onc1{1}", 0.5, 26, 0, 5),
    ("O=C1N({0})c2ccccc2C1{1}", 1.2, 20, 0, 10), ("O=C1NC(=O)C({0})C({1})N1", -1.0, 75, 2, 8),
]
GROUPS = [
    ("C", .5, 0, 0, 1), ("CC", 1., 0, 0, 2), ("C(C)C", 1.4, 0, 0, 3), ("CCCC", 2., 0, 0, 4), ("C(C)(C)C", 1.9, 0, 0, 4),
    ("F", .15, 0, 0, 1), ("Cl", .7, 0, 0, 1), ("Br", .9, 0, 0, 1), ("C(F)(F)F", .9, 0, 0, 4),
    ("O", -.6, 20, 1, 1), ("OC", 0., 9, 0, 2), ("OCC", .4, 9, 0, 3), ("CO", -.9, 20, 1, 2), ("CCO", -.6, 20, 1, 3),
    ("N", -1.1, 26, 2, 1), ("NC", -.4, 12, 1, 2), ("N(C)C", .2, 3, 0, 3), ("CN", -1., 26, 2, 2), ("CCN(C)C", .2, 3, 0, 5),
    ("C#N", -.5, 24, 0, 2), ("C(=O)O", -.7, 37, 1, 3), ("CC(=O)O", -.8, 37, 1, 4), ("C(=O)OC", .0, 26, 0, 4),
    ("C(=O)N", -1.4, 43, 2, 3), ("C(=O)NC", -1., 29, 1, 4), ("C(=O)N(C)C", -.9, 20, 0, 5), ("NC(=O)C", -1., 29, 1, 4),
    ("S(=O)(=O)N", -1.7, 60, 2, 4), ("S(=O)(=O)C", -1.3, 43, 0, 4), ("[N+](=O)[O-]", -.2, 43, 0, 3),
    ("C(=O)C", -.5, 17, 0, 3), ("C=O", -.6, 17, 0, 2), ("SC", .6, 0, 0, 2), ("c3ccccc3", 2., 0, 0, 6),
    ("c3ccncc3", .6, 13, 0, 6), ("Cc3ccccc3", 2.3, 0, 0, 7), ("Oc3ccccc3", 2., 9, 0, 7), ("N3CCOCC3", -.3, 12, 0, 6),
    ("C3CC3", 1.1, 0, 0, 3), ("P(=O)(O)O", -2.2, 57, 2, 4),
]
LINKERS = [
    ("", 0, 0, 0, 0), ("C", .4, 0, 0, 1), ("CC", .8, 0, 0, 2), ("C(=O)N", -1., 29, 1, 3), ("NC(=O)", -1., 29, 1, 3),
    ("OC", .2, 9, 0, 2), ("S(=O)(=O)N", -1.2, 46, 1, 4), ("C(=O)", -.3, 17, 0, 2), ("CN", -.3, 12, 1, 2),
]
ACIDS = ("C(=O)O", "CC(=O)O", "P(=O)(O)O")
BASES = ("CN", "CCN(C)C", "N(C)C", "N3CCOCC3")


def molecule(draw):
    core, second = draw.choice(SCAFFOLDS), draw.choice(SCAFFOLDS)
    first, last = draw.choice(GROUPS), draw.choice(GROUPS)
    if draw.random() < .45:
        linker, third = draw.choice(LINKERS), draw.choice(GROUPS)
        inner = second[0].replace("{0}", "X").replace("{1}", "").translate(str.maketrans("12", "45")).replace("X", third[0])
        if inner.startswith("O=C4N(") or "()" in inner:
            inner, second = "c4ccccc4", ("", 2., 0, 0, 6)
            third = ("", 0, 0, 0, 0)
        parts, middle, groups = [core, second, linker, first, third], linker[0] + inner, [first[0], third[0]]
    else:
        parts, middle, groups = [core, first, last], last[0], [first[0], last[0]]
    smiles = core[0].format(first[0], middle)
    logp, surface, donors, heavy = (sum(part[k] for part in parts) for k in (1, 2, 3, 4))
    acid, base = any(g in ACIDS for g in groups), any(g in BASES for g in groups)
    bond = core[0].startswith("c1cccc({0})c1{1}") and first[0] in ("O", "N", "NC") and middle.startswith(("C(=O)", "C=O", "[N+]"))
    value = -4.6 - .09 * (logp - 2.6) ** 2 - .95 / (1 + math.exp((85 - surface) / 14)) - .011 * surface
    value -= .17 * max(0, donors - 1) + .035 * max(0, heavy - 24)
    value += -.75 * acid + (.65 if acid and base else -.12 * base) + .55 * bond
    if "S(=O)(=O)N" in smiles: value -= .3
    if core[0].startswith(("C1CN", "C1CC")): value += .2
    return smiles, value


draw = random.Random(20240611)
seen = {}
while len(seen) < 1500:
    smiles, value = molecule(draw)
    seen.setdefault(smiles, round(value + draw.gauss(0, .13) + (draw.gauss(0, .5) if draw.random() < .03 else 0), 2))
lines = ["smiles\tcompound\tlog_papp\tplate"]
for number, (smiles, value) in enumerate(seen.items()):
    lines.append(f"{smiles}\tGP-{10000 + 7 * number}\t{value:.2f}\tP{draw.randrange(1, 20):02d}")
Path(__file__).with_name("compounds.tsv").write_text("\n".join(lines) + "\n")
