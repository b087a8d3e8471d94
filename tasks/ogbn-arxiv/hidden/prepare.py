"""OGB's citation graph as plain arrays; the classes of the test split are hidden."""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, write_table

ARCHIVE = Path("arxiv", "arxiv")
UNKNOWN = -1


def read_numbers(file: Path, dtype: type, columns: int) -> np.ndarray:
    """A gzipped CSV file without header. Shape (rows, columns)."""
    table = np.loadtxt(file, dtype=dtype, delimiter=",", ndmin=2)
    if table.shape[1] != columns:
        raise ValueError(f"{file.name}: {table.shape[1]} columns instead of {columns}")
    return table


def read_split(folder: Path, nodes: int) -> dict[str, np.ndarray]:
    """Node numbers of each part, in file order."""
    parts = {}
    for name in ("train", "valid", "test"):
        parts[name] = read_numbers(folder / f"{name}.csv.gz", np.int64, 1)[:, 0]
    every = np.concatenate(list(parts.values()))
    if len(np.unique(every)) != len(every):
        raise ValueError("the parts of the split overlap")
    check_range("split", every, nodes)
    return parts


def check_range(what: str, numbers: np.ndarray, nodes: int) -> None:
    if numbers.min() < 0 or numbers.max() >= nodes:
        raise ValueError(f"{what}: a node is not among the {nodes}")


def main() -> None:
    folders = read_folders()
    raw = folders.downloads / ARCHIVE / "raw"
    features = np.loadtxt(raw / "node-feat.csv.gz", dtype=np.float32, delimiter=",", ndmin=2)
    nodes = len(features)
    labels = read_numbers(raw / "node-label.csv.gz", np.int64, 1)[:, 0]
    years = read_numbers(raw / "node_year.csv.gz", np.int16, 1)[:, 0]
    edges = read_numbers(raw / "edge.csv.gz", np.int32, 2)
    for name, column in (("labels", labels), ("years", years)):
        if len(column) != nodes:
            raise ValueError(f"{len(column)} {name} for {nodes} nodes")
    check_range("edges", edges, nodes)
    parts = read_split(folders.downloads / ARCHIVE / "split" / "time", nodes)

    known = np.full(nodes, UNKNOWN, dtype=np.int16)
    for name in ("train", "valid"):
        known[parts[name]] = labels[parts[name]]
        np.save(folders.public / f"{name}.npy", parts[name])
    np.save(folders.public / "features.npy", features)
    np.save(folders.public / "edges.npy", edges)
    np.save(folders.public / "years.npy", years)
    np.save(folders.public / "labels.npy", known)

    test = parts["test"].tolist()
    write_table(folders.public / "test.csv", ["node"], ([node] for node in test))
    hidden = ([node, labels[node]] for node in test)
    write_table(folders.private / "labels.csv", ["node", "class"], hidden)


if __name__ == "__main__":
    main()
