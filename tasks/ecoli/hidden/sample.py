"""Synthetic proteins in the format of the original file: each site is a cluster of features."""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.sampling import read_sample

# Site: number of proteins, and the means of mcg, gvh, aac, alm1 and alm2.
SITES = {
    "cp": (140, (0.36, 0.42, 0.46, 0.33, 0.39)),
    "im": (80, (0.48, 0.50, 0.53, 0.72, 0.72)),
    "pp": (54, (0.63, 0.66, 0.46, 0.47, 0.40)),
    "imU": (40, (0.70, 0.53, 0.55, 0.74, 0.76)),
    "om": (28, (0.66, 0.70, 0.66, 0.50, 0.45)),
    "imS": (2, (0.75, 0.60, 0.50, 0.70, 0.55)),
}
SPREAD = 0.11
# Correlation of all five features of a protein.
CORRELATION = 0.6
# Nearly all proteins have these values of lip and chg.
LIP, CHG, OTHER_LIP, OTHER_LIP_SHARE = 0.48, 0.5, 1.0, 0.01


def main() -> None:
    sample = read_sample()
    random = np.random.default_rng(sample.seed)
    covariance = SPREAD**2 * (CORRELATION + (1 - CORRELATION) * np.eye(5))
    lines = []
    for site, (proteins, means) in SITES.items():
        clouds = random.multivariate_normal(means, covariance, proteins).clip(0, 1)
        for number, (mcg, gvh, aac, alm1, alm2) in enumerate(clouds):
            lip = OTHER_LIP if random.random() < OTHER_LIP_SHARE else LIP
            values = "  ".join(f"{value:.2f}" for value in (mcg, gvh, lip, CHG, aac, alm1, alm2))
            lines.append(f"{site.upper()}{number}_MADE  {values}   {site}\n")
    (sample.downloads / "ecoli.data").write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
