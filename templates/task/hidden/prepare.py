"""Hides the target of some rows of data.csv, chosen and ordered by a hash of their features."""

import os
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.bundled import order_by_content
from mlab_task.preparing import read_folders, read_table, write_hidden_test, write_table
from mlab_task.tables import column_places

TARGET = "target"
LEFT_OUT: list[str] = []
TEST_SHARE = 0.3


def main() -> None:
    folders = read_folders()
    header, rows = read_table(Path(__file__).resolve().parent / "data.csv")
    header = [name.strip() for name in header]
    features = [name for name in header if name not in {TARGET, *LEFT_OUT}]
    *places, target = column_places(header, [*features, TARGET], "data.csv")

    known = [row for row in rows if row and row[target].strip() != ""]
    shown = [[row[place] for place in places] for row in known]
    order = order_by_content(shown)
    numbered = [[number, *shown[at], known[at][target].strip()] for number, at in enumerate(order)]
    tests = round(len(numbered) * TEST_SHARE)
    columns = ["id", *features, TARGET]
    write_table(folders.public / "train.csv", columns, numbered[tests:])
    write_hidden_test(folders, columns, numbered[:tests], "id", TARGET)


if __name__ == "__main__":
    main()
