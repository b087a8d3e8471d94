"""Starts an outside agent in its sandbox, and carries its connections to the gateway. A script.

    python -I start.py < start.json

What it reads: a line with {"home", "files": {path in home: text}, "variables", "path", "argv",
"folder", "bridge": {"port", "socket"} or null, "speaks"}. An agent that speaks has the rest of the
input as its own, and its messages alone are printed at once: of its standard error, the end is when
it has ended. The agent's home is made anew; the folder `path` comes first in its PATH. The bridge
takes connections on a loopback port, which only this sandbox has, to a Unix socket. It ends with
the agent, and with its exit code.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

# As much of a stream as is taken at a time.
PIECE = 1 << 16
# As much of its standard error as is printed of an agent that speaks.
KEPT = 1 << 14


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hands on what comes, until it ends, and then its end."""
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def connect(socket: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carries one connection in both directions, until the gateway ends it or either side fails."""
    try:
        inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
    except OSError:
        writer.close()
        return
    asked = asyncio.ensure_future(carry(reader, inner_writer))
    answered = asyncio.ensure_future(carry(inner_reader, writer))
    for way in (asked, answered):
        # How a connection failed is nobody's news.
        way.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait([answered])
        asked.cancel()
        await asyncio.gather(asked, answered, return_exceptions=True)
    except asyncio.CancelledError:
        # The agent has ended, and with it all.
        pass
    finally:
        inner_writer.close()
        writer.close()


async def serve(port: int, socket: str) -> None:
    """Takes connections on a loopback port until the loop ends."""
    # The loop itself holds its tasks weakly: one that waits could be lost, with its connection.
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.ensure_future(connect(socket, reader, writer))
        connections.add(connection)
        connection.add_done_callback(connections.discard)

    await asyncio.start_server(connected, "127.0.0.1", port)


def make_home(home: Path, files: dict[str, str]) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)


async def end_of(reader: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await reader.read(PIECE):
        kept = (kept + piece)[-KEPT:]
    return kept


async def main() -> int:
    # Not a byte more than the line is taken: the rest may be the agent's.
    start = json.loads(sys.stdin.buffer.raw.readline())
    make_home(Path(start["home"]), start["files"])
    bridge = start["bridge"]
    if bridge is not None:
        await serve(bridge["port"], bridge["socket"])
    path = os.pathsep.join([start["path"], os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "MLAB_PYTHON": sys.executable, **start["variables"]}
    try:
        agent = await asyncio.create_subprocess_exec(
            *start["argv"],
            cwd=start["folder"],
            env=variables,
            stdin=None if start["speaks"] else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE if start["speaks"] else None,
        )
    except OSError as error:
        print(f"{start['argv'][0]} can't be started: {error.strerror}")
        return 127
    printed = asyncio.ensure_future(end_of(agent.stderr)) if agent.stderr else None
    code = await agent.wait()
    if printed is not None:
        # What it has left behind may hold the pipe open.
        await asyncio.wait([printed], timeout=1)
        if printed.done():
            os.write(1, b"\n" + printed.result() + b"\n")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
