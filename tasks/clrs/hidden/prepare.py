"""Generates the hidden graphs and writes the settings of the starter's training.

There are no downloads. The settings of the original benchmark need a GPU: training on 4, 7, 11, 13
and 16 nodes, batches of 32, 500 steps, validation on 16 nodes, tests on 64 graphs of 64 nodes. Here
graphs and batches are smaller, and steps fewer, so that one CPU thread trains for half a minute.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "env"))

from graphs import draw_batch

from mlab_task.preparing import read_folders

SETTINGS = {
    "train_nodes": [4, 5, 6, 7, 8],
    "validation_nodes": 8,
    "batch": 8,
    "steps": 200,
    "test_nodes": 16,
    "test_graphs": 128,
}
SEED = 7_062_417
TEST_PROBABILITIES = (0.5,)


def main() -> None:
    folders = read_folders()
    text = json.dumps(SETTINGS, indent=2) + "\n"
    (folders.public / "settings.json").write_text(text)
    graphs, nodes = SETTINGS["test_graphs"], SETTINGS["test_nodes"]
    random = np.random.default_rng(SEED)
    test = draw_batch(random, graphs, nodes, TEST_PROBABILITIES, random_positions=False)
    for name in ("positions", "weights", "edges"):
        np.save(folders.private / f"{name}.npy", getattr(test, name))
    np.save(folders.private / "pointers.npy", test.pointers.astype(np.int16))


if __name__ == "__main__":
    main()
