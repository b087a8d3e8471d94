"""How an outside agent is started, and what is logged about its connections."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

from support import HELPERS, FolderTest

ASKING = """
import urllib.request
for number in range(100):
    urllib.request.urlopen("http://127.0.0.1:{port}/").read()
print("the end")
"""


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers each piece of a request, and never closes the connection."""
    while await reader.read(1 << 16):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()


# An agent that keeps a session, and requests that it be saved.
KEEPING = """
import os, pathlib, sqlite3, time
kept = pathlib.Path("home/kept")
if kept.exists():
    print(sorted(path.name for path in kept.iterdir()))
    print(sqlite3.connect("home/kept/state.db").execute("select * from known").fetchall())
else:
    kept.mkdir()
    (kept / "words.txt").write_text("known")
    os.mkfifo(kept / "pipe")
    os.symlink("/etc/passwd", kept / "link")
    database = sqlite3.connect("home/kept/state.db")
    database.execute("pragma journal_mode=wal")
    database.execute("create table known (word)")
    database.execute("insert into known values ('one')")
    database.commit()
    print("ready", flush=True)
    while not os.path.exists("end"):
        time.sleep(0.01)
"""


async def start(folder: Path, code: str, session: dict) -> asyncio.subprocess.Process:
    started = await asyncio.create_subprocess_exec(
        *[sys.executable, "-I", str(HELPERS / "outside" / "start.py")],
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
    )
    asked = {
        "argv": [sys.executable, "-c", code],
        "bridge": None,
        "files": {},
        "folder": str(folder),
        "home": str(folder / "home"),
        "path": str(folder),
        "session": session,
        "speaks": False,
        "variables": {},
    }
    started.stdin.write(json.dumps(asked).encode() + b"\n")
    return started


async def saved_by(folder: Path) -> bytes:
    """What is sent for the session of a running agent."""
    sent: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.set_result(await reader.read())
        writer.close()

    socket = str(folder / "session.sock")
    await asyncio.start_unix_server(receive, socket)
    started = await start(folder, KEEPING, {"keep": ["kept"], "socket": socket, "saved": None})
    assert await started.stdout.readline() == b"ready\n"
    started.stdin.write(b"save\n")
    content = await sent
    (folder / "end").touch()
    await started.wait()
    return content


async def continued_by(folder: Path, saved: Path) -> str:
    session = {"keep": ["kept"], "socket": str(folder / "other.sock"), "saved": str(saved)}
    started = await start(folder, KEEPING, session)
    printed, _ = await started.communicate()
    return printed.decode()


async def printed_by(folder: Path, port: int) -> str:
    socket = str(folder / "models.sock")
    await asyncio.start_unix_server(answer, socket)
    start = await asyncio.create_subprocess_exec(
        *[sys.executable, "-I", str(HELPERS / "outside" / "start.py")],
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
    )
    asked = {
        "argv": [sys.executable, "-c", ASKING.format(port=port)],
        "bridge": {"port": port, "socket": socket},
        "files": {},
        "folder": str(folder),
        "home": str(folder / "home"),
        "path": str(folder),
        "session": None,
        "speaks": False,
        "variables": {},
    }
    printed, _ = await start.communicate(json.dumps(asked).encode())
    return printed.decode()


class StartTest(FolderTest):
    def test_nothing_is_logged_about_connections_that_are_left_open(self) -> None:
        self.assertEqual(asyncio.run(printed_by(self.folder, 14080)), "the end\n")

    def test_a_session_is_saved_and_continued_with_databases_but_no_links_or_pipes(self) -> None:
        size, _, archive = asyncio.run(saved_by(self.folder)).partition(b"\n")
        self.assertEqual(int(size), len(archive))
        saved = self.folder / "saved.tar"
        saved.write_bytes(archive)
        again = self.folder / "again"
        again.mkdir()
        self.assertEqual(
            asyncio.run(continued_by(again, saved)), "['state.db', 'words.txt']\n[('one',)]\n"
        )
