"""For attacks that run in a sandbox: each a function marked `@attack("title")`, and `main()`.

Each runs in its own child process. A function returns what it got, so the attack worked. `Held`,
OSError and MemoryError say what stopped it; any other exception is a mistake in the attack itself,
which must not count as a defence.
"""

import ctypes
import errno
import json
import os
import re
import select
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

SETTINGS = json.loads(Path([*sys.argv, "settings.json"][1]).read_text())
VAULT = SETTINGS["vault"]
SECRET_FILE = VAULT + "/secret.txt"
PATTERN = re.compile(rb"planted-secret-[0-9a-f]{32}")
SECONDS = SETTINGS.get("seconds", 10)

libc = ctypes.CDLL(None, use_errno=True)
_attacks: list[tuple[str, Callable[[], str | None]]] = []


class Held(Exception):
    """Something other than an exception of the system stopped the attack."""


class Skipped(Exception):
    """It can't be tried here."""


def attack(title: str):
    def register(action: Callable[[], str | None]):
        _attacks.append((title, action))
        return action

    return register


def call(name: str, *arguments) -> int:
    """A function of the C library, with its failure as an OSError."""
    result = getattr(libc, name)(*arguments)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def syscall(number: int, *arguments) -> int:
    return call("syscall", ctypes.c_long(number), *arguments)


def found_in(content: bytes, where: str) -> str:
    """The planted secret, if it is there."""
    if PATTERN.search(content):
        return f"read the secret in {where}"
    raise Held(f"{where}: {len(content)} bytes that hold no secret")


def read(path: str, most: int = 2**24) -> bytes:
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        return file.read(most) or b""


def main() -> None:
    for title, action in _attacks:
        if title not in SETTINGS.get("only", [title]):
            continue
        outcome, why = _in_child(action)
        line = json.dumps({"title": title, "outcome": outcome, "why": " ".join(why.split())[:200]})
        os.write(1, f"\n@attack {line}\n".encode())


def _in_child(action: Callable[[], str | None]) -> tuple[str, str]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(2, 1)
        os.write(writer, json.dumps(_outcome(action)).encode())
        os._exit(0)
    os.close(writer)
    said = b""
    while select.select([reader], [], [], SECONDS)[0] and (part := os.read(reader, 65536)):
        said += part
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if said:
        outcome, why = json.loads(said)
        return outcome, why
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        return "held", f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return "broken", f"it said nothing within {SECONDS} s"


def _outcome(action: Callable[[], str | None]) -> tuple[str, str]:
    try:
        return "worked", action() or "it worked"
    except Skipped as reason:
        return "skipped", str(reason)
    except Held as reason:
        return "held", str(reason)
    except OSError as error:
        return "held", f"{errno.errorcode.get(error.errno or 0, '?')} ({error.strerror})"
    except MemoryError:
        return "held", "MemoryError"
    except BaseException:
        return "broken", traceback.format_exc(limit=-2)


if __name__ == "__main__":
    sys.exit("this is a module for attacks")
