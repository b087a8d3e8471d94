"""How an outside agent is started: what of its connections is heard."""

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
    """Answers each piece of a request, and never hangs up."""
    while await reader.read(1 << 16):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()


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
        "speaks": False,
        "variables": {},
    }
    printed, _ = await start.communicate(json.dumps(asked).encode())
    return printed.decode()


class StartTest(FolderTest):
    def test_nothing_is_heard_of_connections_that_are_left_open(self) -> None:
        self.assertEqual(asyncio.run(printed_by(self.folder, 14080)), "the end\n")
