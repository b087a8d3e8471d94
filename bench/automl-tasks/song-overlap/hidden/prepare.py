"""An archive of songs to try the function on."""

import json
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from birds import draw_songs
from mlab_task.preparing import read_folders

songs = draw_songs(random.Random(12), 40)
(read_folders().public / "archive.json").write_text(json.dumps(songs, indent=0), encoding="utf-8")
