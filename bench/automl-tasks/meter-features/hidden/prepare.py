"""This task has no data: every grading draws its own."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders

if __name__ == "__main__":
    read_folders()
