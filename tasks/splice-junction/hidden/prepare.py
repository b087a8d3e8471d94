"""Splice junctions: 40 % of the windows are hidden, in whole families of genes."""

import os
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from relatives import find_families

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, write_hidden_test, write_table
from mlab_task.splitting import hold_out_groups

HIDDEN_SHARE = 0.4
KINDS = ("EI", "IE", "N")


def read_windows(file: Path) -> list[tuple[str, str, str]]:
    """Kind, gene and sequence of each window, without copies.

    The lines hold kind, name and sequence; names begin with the gene's entry in GenBank
    (`HUMALBGC-DONOR-1234`). If copies have different kinds, all are left out.
    """
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for line in file.read_text(encoding="ascii").splitlines():
        if not line.strip():
            continue
        kind, name, sequence = (field.strip() for field in line.split(","))
        if kind not in KINDS:
            raise ValueError(f"unknown kind of window: {kind}")
        found[sequence].add((kind, name.split("-")[0]))
    return [
        (*min(copies), sequence)
        for sequence, copies in sorted(found.items())
        if len({kind for kind, _ in copies}) == 1
    ]


def main() -> None:
    folders = read_folders()
    windows = read_windows(folders.downloads / "splice.data")
    ordered = [windows[place] for place in order_by_content([[window[2]] for window in windows])]
    kinds, genes, sequences = zip(*ordered, strict=True)
    hidden = hold_out_groups(find_families(sequences, genes), HIDDEN_SHARE)

    # In a separate order: families are hidden in the order of a hash of their first sequence,
    # so the same order would reveal which hidden windows are alone in their family.
    order = order_by_content([["row", sequence] for sequence in sequences])
    header = ["id", "sequence", "kind"]
    rows = [[number, sequences[place], kinds[place]] for number, place in enumerate(order)]
    shown = [row for row, place in zip(rows, order, strict=True) if not hidden[place]]
    write_table(folders.public / "train.csv", header, shown)
    tested = [row for row, place in zip(rows, order, strict=True) if hidden[place]]
    write_hidden_test(folders, header, tested, "id", "kind")


if __name__ == "__main__":
    main()
