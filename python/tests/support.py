"""What the tests share: the path to the helpers, small declarations, temporary folders."""

import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mlab_task.csv_check import Table, check_csv
from mlab_task.declaration import Column, CsvFile
from mlab_task.problems import Problem

HELPERS = Path(__file__).resolve().parent.parent
TASKS = HELPERS.parent / "tasks"

needs_numpy = unittest.skipUnless(
    importlib.util.find_spec("numpy"), "numpy is not installed for this Python"
)


class FolderTest(unittest.TestCase):
    """A test with a temporary folder of its own."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file


def declare(*columns: Column) -> CsvFile:
    """A CSV file whose rows are named by `id`."""
    return CsvFile("submission.csv", "id", "test.csv", columns or (Column("value"),))


def check(
    content: str | bytes, *columns: Column, ids: tuple[str, ...] = ("a", "b", "c")
) -> Table | list[Problem]:
    raw = content if isinstance(content, bytes) else content.encode()
    return check_csv(io.BytesIO(raw), declare(*columns), ids)
