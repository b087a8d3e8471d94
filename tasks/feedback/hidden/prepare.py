"""Essays: Kaggle's train.csv in the shuffled order of the paper; the last fifth is hidden.

The variant `paper` hides what the paper hid: the last 2 % of the same order.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders, read_table, write_table

SCORES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
SHUFFLE_SEED = 42
TRAINING_PERCENT = {None: 80, "paper": 98}


def main() -> None:
    folders = read_folders()
    source = folders.downloads / "feedback-prize-english-language-learning"
    header, rows = read_table(source / "train.csv")
    # The order of pandas' sample(frac=1, random_state=42).
    order = np.random.RandomState(SHUFFLE_SEED).permutation(len(rows))
    train_rows = len(rows) * TRAINING_PERCENT[folders.variant] // 100
    train, test = ([rows[place] for place in part] for part in np.split(order, [train_rows]))

    write_table(folders.public / "train.csv", header, train)
    write_table(
        folders.public / "test.csv",
        ["text_id", "full_text"],
        ([row[header.index("text_id")], row[header.index("full_text")]] for row in test),
    )
    columns = ["text_id", *SCORES]
    labels = ([row[header.index(column)] for column in columns] for row in test)
    write_table(folders.private / "labels.csv", columns, labels)


if __name__ == "__main__":
    main()
