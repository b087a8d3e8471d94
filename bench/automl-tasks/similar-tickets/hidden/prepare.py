"""Writes 900 tickets to try the function on."""

import json
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from texts import tickets

from mlab_task.preparing import read_folders

folders = read_folders()
text = json.dumps(tickets(random.Random(12), 900), indent=0) + "\n"
(folders.public / "tickets.json").write_text(text, encoding="utf-8")
