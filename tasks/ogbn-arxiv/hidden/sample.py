"""A synthetic citation graph in OGB's format: papers cite older ones, mostly of their own class.

Each class is a block of a stochastic block model. A paper's features say little about its class,
those of the papers it is linked with say more.
"""

import gzip
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

PAPERS = 12_000
CLASSES = 12
SMALLER = 0.6  # size of each class relative to the previous one
FEATURES = 128
YEARS = np.arange(2012, 2021)
GROWTH = 1.25  # papers per year relative to the previous one
MEAN_CITATIONS = 6
OWN_CLASS = 0.6  # share of citations that stay in the class
SIGNAL = 0.09  # spread of the class centres relative to the noise
SCALE = 0.3


def draw_citations(
    random: np.random.Generator, labels: np.ndarray, years: np.ndarray
) -> np.ndarray:
    """Pairs (citing paper, cited paper), the cited one never newer. Shape (edges, 2)."""
    order = np.argsort(years, kind="stable")
    older = np.searchsorted(years[order], years, side="right")
    members = [order[labels[order] == label] for label in range(CLASSES)]
    edges = set()
    for paper in range(PAPERS):
        for _ in range(random.poisson(MEAN_CITATIONS)):
            if random.random() < OWN_CLASS:
                pool = members[labels[paper]]
                most = np.searchsorted(years[pool], years[paper], side="right")
            else:
                pool, most = order, older[paper]
            cited = int(pool[random.integers(most)])
            if cited != paper:
                edges.add((paper, cited))
    return np.array(sorted(edges))


def write_numbers(file: Path, numbers: np.ndarray, form: str = "%d") -> None:
    """A gzipped CSV file without header and without a time stamp."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed:
        np.savetxt(packed, numbers, fmt=form, delimiter=",")


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    share = GROWTH ** np.arange(len(YEARS))
    years = random.choice(YEARS, PAPERS, p=share / share.sum())
    weights = SMALLER ** np.arange(CLASSES)
    labels = random.choice(CLASSES, PAPERS, p=weights / weights.sum())
    centres = random.normal(0, SIGNAL, (CLASSES, FEATURES))
    features = SCALE * (centres[labels] + random.normal(0, 1, (PAPERS, FEATURES)))

    folder = sample.downloads / "arxiv" / "arxiv"
    raw = folder / "raw"
    write_numbers(raw / "node-feat.csv.gz", features, "%.4f")
    write_numbers(raw / "node-label.csv.gz", labels)
    write_numbers(raw / "node_year.csv.gz", years)
    edges = draw_citations(random, labels, years)
    write_numbers(raw / "edge.csv.gz", edges)
    write_numbers(raw / "num-node-list.csv.gz", np.array([PAPERS]))
    write_numbers(raw / "num-edge-list.csv.gz", np.array([len(edges)]))
    parts = {"train": years <= 2017, "valid": years == 2018, "test": years >= 2019}
    for name, chosen in parts.items():
        write_numbers(folder / "split" / "time" / f"{name}.csv.gz", np.flatnonzero(chosen))


if __name__ == "__main__":
    main()
