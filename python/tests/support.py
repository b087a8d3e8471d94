"""What the tests share: the path to the helpers, small declarations, temporary folders."""

import contextlib
import http.client
import importlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX
from socket import socket as UnixSocket
from types import ModuleType

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
    """A test with its own temporary folder."""

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


def task_modules(task: str, *names: str) -> list[ModuleType]:
    """Modules of a task's hidden/ and env/, which may have the same names as another task's."""
    folders = [TASKS / task / "hidden", TASKS / task / "env"]
    own = {file.stem for folder in folders for file in folder.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in own & sys.modules.keys()}
    sys.path[:0] = map(str, folders)
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        del sys.path[: len(folders)]
        for name in own & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(others)


@contextlib.contextmanager
def running_service(script: Path, folder: Path, name: str) -> Iterator[Path]:
    """A service of a task on folder/public and folder/private; yields its socket's folder."""
    socket = folder / f"{name}.sock"
    environment = {**os.environ, "MLAB_HELPERS": str(HELPERS), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-I", "-B", str(script), "--socket", str(socket)]
    command += ["--public", str(folder / "public"), "--private", str(folder / "private")]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        try:
            while not socket.exists():
                if process.poll() is not None:
                    raise RuntimeError(process.stderr.read().decode())
                time.sleep(0.01)
            yield folder
        finally:
            process.kill()


def get(socket: Path, path: str) -> tuple[int, bytes]:
    """Status and body of a GET request on a Unix socket."""
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = connect(socket)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def connect(socket: Path) -> UnixSocket:
    connection = UnixSocket(AF_UNIX)
    connection.settimeout(30)
    connection.connect(str(socket))
    return connection


def prepare(task: str, folder: Path) -> None:
    """Makes the data of a task without downloads in folder/public and folder/private."""
    command = [sys.executable, "-I", "-B", str(TASKS / task / "hidden" / "prepare.py")]
    for name in ("downloads", "public", "private"):
        (folder / name).mkdir(parents=True)
        command += [f"--{name}", str(folder / name)]
    subprocess.run(command, check=True, env={"MLAB_HELPERS": str(HELPERS)})
