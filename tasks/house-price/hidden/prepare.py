"""Houses: Kaggle's train.csv in file order; the first 80 % are public, the rest is hidden."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import (
    read_folders,
    read_table,
    write_hidden_test,
    write_table,
)


def main() -> None:
    folders = read_folders()
    header, rows = read_table(folders.downloads / "home-data-for-ml-course" / "train.csv")
    train_rows = len(rows) * 8 // 10
    write_table(folders.public / "train.csv", header, rows[:train_rows])
    write_hidden_test(folders, header, rows[train_rows:], "Id", "SalePrice")


if __name__ == "__main__":
    main()
