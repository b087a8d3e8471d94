"""Example systems with their laws; every grading generates others."""

import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from laws import draw_systems

from mlab_task.preparing import read_folders, write_table

EXAMPLES = 32
SEED = 20_240_611

if __name__ == "__main__":
    folders = read_folders()
    systems = draw_systems(EXAMPLES, np.random.default_rng(SEED))
    listed = []
    for number, system in enumerate(systems):
        name = f"{number:02}"
        header = [*(f"x{place + 1}" for place in range(len(system.law.units))), "y"]
        for part, x, y in (
            ("observed", system.x_observed, system.y_observed),
            ("beyond", system.x_beyond, system.y_beyond),
        ):
            rows = [[f"{value:.9g}" for value in row] for row in np.column_stack([x, y])]
            write_table(folders.public / f"{name}-{part}.csv", header, rows)
        listed.append([name, system.law.kind, system.law.text()])
    write_table(folders.public / "laws.csv", ["system", "kind", "law"], listed)
