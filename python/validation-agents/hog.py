"""Uses up one kind of resource.

The harness gives every attempt a separate step, with small limits.

python hog.py TOKEN WHAT
"""

import os
import sys
import threading
import time
from collections.abc import Callable

from attempts import Judged, Stopped, add, reason, run_all

BLOCK = b"x" * 2**20
MOST = 4096


def memory() -> str:
    blocks = [bytearray(BLOCK) for _ in range(MOST)]
    return f"held {len(blocks)} MiB"


def memory_of_many() -> str:
    """The limit is for all processes together."""
    for _ in range(8):
        if os.fork() == 0:
            kept = [bytearray(BLOCK) for _ in range(200)]
            time.sleep(2)
            os._exit(len(kept) & 0)
    endings = [os.waitpid(-1, 0)[1] for _ in range(8)]
    failed = sum(ending != 0 for ending in endings)
    if failed == 0:
        return "8 processes held 200 MiB each"
    raise Stopped(f"{failed} of 8 processes with 200 MiB each were ended")


def fill(folder: str) -> str:
    """Many files, because each alone is limited too."""
    written = 0
    for number in range(MOST // 16):
        with open(f"{folder}/fill-{number}", "wb", buffering=0) as file:
            for _ in range(16):
                written += file.write(BLOCK)
    return f"wrote {written >> 20} MiB"


def one_file() -> str:
    with open("large", "wb", buffering=0) as file:
        for number in range(MOST):
            if file.write(BLOCK) < len(BLOCK):
                raise Stopped(f"the file was cut at {number} MiB")
    return f"wrote {MOST} MiB into one file"


def sparse() -> str:
    with open("sparse", "wb") as file:
        file.truncate(2**40)
    return "made a file of 1 TiB"


def fork_bomb() -> str:
    """
    Every process keeps forking; the first one ends after a while, and with it all others. On a busy
    machine the limit may be further away than that: the first one then goes on alone.
    """
    first = os.getpid()
    refused = None
    start, deadline = time.monotonic(), 1.5
    children = 0

    def goes_on() -> bool:
        lasts = time.monotonic() - start
        is_alone = os.getpid() == first and refused is None and children < MOST
        return lasts < deadline or (is_alone and lasts < 20)

    while goes_on():
        try:
            if os.fork() == 0:
                children = 0
            else:
                children += 1
        except OSError as error:
            refused = error
            time.sleep(0.2)
    if os.getpid() != first:
        time.sleep(60)
        os._exit(0)
    if refused is None:
        return f"made {children} processes that make processes"
    raise Stopped(f"{reason(refused)} after {children} forks of the first process")


def shell_bomb() -> str:
    os.system("bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 1")
    count = sum(name.isdigit() for name in os.listdir("/proc"))
    if count > 1000:
        return f"{count} processes"
    raise Judged(f"{count} processes at the end")


def threads() -> str:
    wait = threading.Event()
    for number in range(20_000):
        try:
            threading.Thread(target=wait.wait, daemon=True).start()
        except RuntimeError as error:
            raise Stopped(f"{error}, after {number} threads") from None
    return "started 20,000 threads"


def descriptors() -> str:
    kept = [os.dup(1) for _ in range(2_000_000)]
    return f"held {len(kept)} open files"


def output() -> str:
    for _ in range(64):
        os.write(2, BLOCK)
    os.write(2, b"\n")
    raise Judged("printed 64 MiB")


def time_up() -> str:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        pass
    return "ran for 10 minutes"


ALL: dict[str, tuple[str, Callable[[], str]]] = {
    "memory": ("memory of one process", memory),
    "memory-of-many": ("memory of 8 processes", memory_of_many),
    "workspace": ("disk: the workspace", lambda: fill(".")),
    "temporary": ("disk: /tmp", lambda: fill("/tmp")),
    "shared": ("disk: /dev/shm", lambda: fill("/dev/shm")),
    "one-file": ("disk: one large file", one_file),
    "sparse": ("disk: a file of 1 TiB with nothing in it", sparse),
    "fork-bomb": ("processes: a fork bomb", fork_bomb),
    "shell-bomb": ("processes: a fork bomb of the shell", shell_bomb),
    "threads": ("processes: threads", threads),
    "descriptors": ("open files", descriptors),
    "output": ("output", output),
    "time": ("time", time_up),
}

if __name__ == "__main__":
    what, action = ALL[sys.argv[2]]
    add(f"use up {what}", f"hog.py {sys.argv[2]}", action)
    run_all()
