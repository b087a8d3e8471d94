"""Counts of tokens, functional groups and token n-grams in SMILES."""
import re
from collections import Counter

import numpy as np

TOKEN = re.compile(r"Cl|Br|[A-Za-z]|[=#()]|\d")
GROUPS = {
    "acid": r"C\(=O\)O(?!C)|^OC\(=O\)", "ester": r"COC\(=O\)|C\(=O\)OC", "ketone": r"CC\(=O\)|C\(C\)=O",
    "aldehyde": r"^O=C|C=O(?![a-zA-Z])", "nitrile": r"N#C|C#N", "hydroxyl": r"^OC(?!\(=O\))|(?<!=)O\)|(?<!\))O$",
    "amine3": r"CN\(C\)|N\(C\)C", "amine1": r"^N(?!#)|(?<!#)N\)|(?<!#)N$", "ether": r"(?<=C)O(?=C)", "methoxy": r"OC\)|OC$|^CO",
    "aryl": r"c1|c2", "benzene": r"c1ccccc1", "ring6": r"C1CCCCC1", "pyridine": r"c1ccncc1", "furan": r"c1ccoc1",
    "alkene": r"C=C", "branch": r"\(", "para": r"c2ccc\(", "meta": r"c2cccc\(", "ortho": r"c2ccccc2", "quaternary": r"\)\(",
}
GROUPS = {k: re.compile(v) for k, v in GROUPS.items()}


def tokens(text, longest):
    found = TOKEN.findall(text)
    for n in range(1, longest + 1):
        for i in range(len(found) - n + 1):
            yield "".join(found[i : i + n])


class SmilesVectorizer:
    def __init__(self, longest=3, size=250):
        self.longest, self.size = longest, size

    def fit(self, smiles):
        seen = Counter()
        for s in smiles:
            seen.update(set(tokens(s, self.longest)))
        self.vocabulary = [g for g, _ in sorted(seen.items(), key=lambda kv: (-kv[1], kv[0]))[: self.size]]
        return self

    def transform(self, smiles):
        rows = []
        for s in smiles:
            counts = Counter(tokens(s, self.longest))
            groups = {k: len(v.findall(s)) for k, v in GROUPS.items()}
            atoms = re.findall(r"Cl|Br|[CNOFcno]", s)
            heavy = len(atoms)
            halogens = sum(a in ("Cl", "Br", "F") for a in atoms)
            hetero = sum(a in "NOno" for a in atoms)
            donors = groups["acid"] + groups["hydroxyl"] + groups["amine1"]
            rows.append([
                heavy, np.exp(-heavy / 13), halogens, halogens**2, halogens**2 * (donors == 0), hetero, np.sqrt(hetero), donors,
                min(donors, 3) ** 0.8, hetero / heavy, *groups.values(), *(counts[g] for g in self.vocabulary),
            ])
        return np.array(rows, dtype=float)
