"""Nothing to prepare: the grader draws the names."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import read_folders

read_folders()
