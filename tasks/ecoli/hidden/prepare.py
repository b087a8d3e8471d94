"""Sites of proteins: half of the proteins of each sufficiently large site are hidden."""

import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table
from mlab_task.splitting import hold_out_of_each

HIDDEN_SHARE = 0.5
# Three sites have only two, two and five proteins: too few to learn or to evaluate.
FEWEST_PROTEINS = 20
MEASUREMENTS = ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"]


def read_proteins(file: Path) -> list[tuple[list[str], str]]:
    """Features and site of each protein of a sufficiently large site.

    The lines hold an accession name, seven numbers and the site, separated by spaces. The name is
    dropped: it identifies the protein.
    """
    lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    proteins = [(fields[1:8], fields[8]) for fields in lines if fields]
    members = Counter(site for _, site in proteins)
    return [protein for protein in proteins if members[protein[1]] >= FEWEST_PROTEINS]


def main() -> None:
    folders = read_folders()
    proteins = sorted(read_proteins(folders.downloads / "ecoli.data"))
    places = order_by_content([measurements for measurements, _ in proteins])
    ordered = [proteins[place] for place in places]
    contents = [" ".join(measurements) for measurements, _ in ordered]
    hidden = hold_out_of_each([site for _, site in ordered], contents, HIDDEN_SHARE)

    header = ["id", *MEASUREMENTS, "site"]
    rows = [[number, *measurements, site] for number, (measurements, site) in enumerate(ordered)]
    shown = [row for row, is_hidden in zip(rows, hidden, strict=True) if not is_hidden]
    write_table(folders.public / "train.csv", header, shown)
    tested = [row for row, is_hidden in zip(rows, hidden, strict=True) if is_hidden]
    write_hidden_test(folders, header, tested, "id", "site")


if __name__ == "__main__":
    main()
