"""CIFAR-10: the official training images public, the official test images without labels."""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).parent))

from batches import read_batch, read_class_names

from mlab_task.preparing import read_folders, write_table

TRAIN_FILES = tuple(f"data_batch_{number}" for number in range(1, 6))


def main() -> None:
    folders = read_folders()
    source = folders.downloads / "cifar-10-python" / "cifar-10-batches-py"
    train = [read_batch(source / name) for name in TRAIN_FILES]
    test = read_batch(source / "test_batch")
    names = read_class_names(source / "batches.meta")

    np.save(folders.public / "train_images.npy", np.concatenate([part.images for part in train]))
    np.save(folders.public / "train_labels.npy", np.concatenate([part.labels for part in train]))
    np.save(folders.public / "test_images.npy", test.images)
    (folders.public / "class_names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    places = range(len(test.labels))
    write_table(folders.public / "test.csv", ["index"], ([place] for place in places))
    labels = zip(places, test.labels.tolist(), strict=True)
    write_table(folders.private / "labels.csv", ["index", "label"], labels)


if __name__ == "__main__":
    main()
