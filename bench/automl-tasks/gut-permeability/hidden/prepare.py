"""Splits the compounds: 1,000 for training, 500 hidden. Rows are in the order of a hash of their SMILES."""

import csv
import hashlib
import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

folders = read_folders()
with open(Path(__file__).with_name("compounds.tsv"), newline="") as file:
    compounds = list(csv.DictReader(file, delimiter="\t"))
compounds.sort(key=lambda row: hashlib.sha256(row["smiles"].encode()).hexdigest())
train, test = compounds[:1000], compounds[1000:]

# the format that chemists use: SMILES, tab, name
lines = [f"{row['smiles']}\tGP{n:04d}\t{row['log_papp']}" for n, row in enumerate(train)]
(folders.public / "train.smi").write_text("\n".join(lines) + "\n")
names = [f"GP{n + 1000:04d}" for n in range(len(test))]
lines = [f"{row['smiles']}\t{name}" for row, name in zip(test, names)]
(folders.public / "test.smi").write_text("\n".join(lines) + "\n")
write_table(folders.public / "test_ids.csv", ["name"], [[name] for name in names])
write_table(
    folders.private / "labels.csv",
    ["name", "log_papp"],
    [[name, row["log_papp"]] for row, name in zip(test, names)],
)
