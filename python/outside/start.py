"""Starts an outside agent in its sandbox, and forwards its connections to the gateway. A script.

    python -I start.py < start.json

What it reads: a line with {"home", "files": {path in home: text}, "variables", "path", "argv",
"folder", "bridge": {"port", "socket"} or null, "session": {"keep", "socket", "saved"} or null,
"speaks"}. An agent that speaks gets the rest of the input, and its messages are printed at once;
the end of its standard error is printed when it has ended. The agent's home is newly created; the
folder `path` comes first in its PATH. The bridge forwards connections from a loopback port, which
only this sandbox has, to a Unix socket. It ends with the agent, and with its exit code.

An agent with a session continues with the archive `saved`, unless that is null. For each further
line of the input, the files of `keep` in its home are sent to the session's socket: a line with the
number of bytes, and a tar archive; 0 bytes if there are none, or too much.
"""

import asyncio
import io
import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path

# The most that is read from a stream at a time.
PIECE = 1 << 16
# The most that is printed of the standard error of an agent that speaks a protocol.
KEPT = 1 << 14
# The most bytes that the files of a session may have together.
MOST_SAVED = 1 << 25


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forwards data until its end, and then the end."""
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def connect(socket: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forwards a connection in both directions, until the gateway ends it or either side fails."""
    try:
        inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
    except OSError:
        writer.close()
        return
    asked = asyncio.ensure_future(carry(reader, inner_writer))
    answered = asyncio.ensure_future(carry(inner_reader, writer))
    for way in (asked, answered):
        # How a connection failed does not matter.
        way.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait([answered])
        asked.cancel()
        await asyncio.gather(asked, answered, return_exceptions=True)
    except asyncio.CancelledError:
        # The agent has ended, and all connections end with it.
        pass
    finally:
        inner_writer.close()
        writer.close()


async def serve(port: int, socket: str) -> None:
    """Accepts connections on a loopback port until the loop ends."""
    # The loop itself has only weak references to its tasks: a waiting one could be lost, with its
    # connection.
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


def packed(home: Path, keep: list[str]) -> bytes:
    """These files and folders of a home, as a tar archive with copies of databases."""
    content = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=content, mode="w") as archive:
        found = [path for name in keep for path in (home / name, *sorted((home / name).rglob("*")))]
        files = [path for path in found if path.is_file() and not path.is_symlink()]
        # These are parts of databases, which are copied as a whole.
        files = [path for path in files if not path.name.endswith((".db-wal", ".db-shm"))]
        if not files or sum(path.stat().st_size for path in files) > MOST_SAVED:
            return b""
        for number, path in enumerate(files):
            source = path
            if path.suffix == ".db":
                import sqlite3

                source = Path(folder) / str(number)
                with sqlite3.connect(path) as database, sqlite3.connect(source) as copy:
                    database.backup(copy)
            archive.add(source, str(path.relative_to(home)))
    return content.getvalue()


def unpack(home: Path, saved: str) -> None:
    with tarfile.open(saved) as archive:
        for member in archive:
            path = home / member.name
            if member.isfile() and path.resolve().is_relative_to(home.resolve()):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with archive.extractfile(member) as content:
                    path.write_bytes(content.read())


async def send_session(home: Path, session: dict) -> None:
    """Sends the session once for each line of the input."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    while await lines.readline():
        try:
            content = await asyncio.to_thread(packed, home, session["keep"])
        except Exception:
            # Without a session, the agent starts over.
            content = b""
        _, writer = await asyncio.open_unix_connection(session["socket"])
        writer.write(b"%d\n%b" % (len(content), content))
        await writer.drain()
        writer.close()


async def end_of(reader: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await reader.read(PIECE):
        kept = (kept + piece)[-KEPT:]
    return kept


async def main() -> int:
    # No byte beyond the line may be read: the rest may be for the agent.
    start = json.loads(sys.stdin.buffer.raw.readline())
    home, session = Path(start["home"]), start["session"]
    make_home(home, start["files"])
    if session is not None and session["saved"] is not None:
        unpack(home, session["saved"])
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
    saving = asyncio.ensure_future(send_session(home, session)) if session is not None else None
    code = await agent.wait()
    if saving is not None:
        saving.cancel()
    if printed is not None:
        # A process that the agent left behind may hold the pipe open.
        await asyncio.wait([printed], timeout=1)
        if printed.done():
            os.write(1, b"\n" + printed.result() + b"\n")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
