"""Leaves processes behind, in every possible way.

Each writes heartbeats to a file, and later changes the submission.

python daemon.py TOKEN          starts all daemons, and ends
python daemon.py TOKEN beat N   is one of them
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from attempts import Judged, add, run_all, settings

TOKEN = sys.argv[1]
HERE = Path(__file__).resolve().parent
LIFE = 30.0


def beat(name: str) -> None:
    """Writes heartbeats, and after a while the submission, until it ends."""
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        try:
            signal.signal(number, signal.SIG_IGN)
        except ValueError:
            pass  # Only the main thread may.
    start = time.monotonic()
    while time.monotonic() - start < LIFE:
        (HERE / f"heartbeat-{name}").write_text(str(time.time_ns()))
        if time.monotonic() - start > 1:
            (HERE / settings()["submission"]).write_text(f"changed by {name}\n")
        time.sleep(0.05)


def in_child(name: str, prepare: Callable[[], object] = lambda: None, forks: int = 1) -> None:
    if os.fork() != 0:
        return
    prepare()
    for _ in range(forks - 1):
        if os.fork() != 0:
            os._exit(0)
    for descriptor in range(3):
        os.close(descriptor)
        os.open(os.devnull, os.O_RDWR)
    beat(name)
    os._exit(0)


def command(name: str) -> list[str]:
    return [sys.executable, __file__, TOKEN, "beat", name]


def quiet(argv: list[str], **options: object) -> None:
    nowhere = subprocess.DEVNULL
    subprocess.Popen(argv, stdin=nowhere, stdout=nowhere, stderr=nowhere, **options)


def alive(name: str, start: Callable[[], object]) -> None:
    """Starts a daemon and waits for a heartbeat: one that never ran would prove nothing."""
    start()
    for _ in range(100):
        if (HERE / f"heartbeat-{name}").exists():
            raise Judged("it lived as long as the script")
        time.sleep(0.05)
    raise RuntimeError("it never began to live")


def at_exit() -> None:
    atexit.register(in_child, "at-exit", os.setsid, 2)
    raise Judged("registered")


def as_thread() -> None:
    threading.Thread(target=beat, args=("thread",), daemon=True).start()


WAYS: dict[str, tuple[str, Callable[[], object]]] = {
    "fork": ("os.fork", lambda: in_child("fork")),
    "session": ("fork, setsid", lambda: in_child("session", os.setsid)),
    "double": ("fork, setsid, fork", lambda: in_child("double", os.setsid, 2)),
    "deep": ("fork five times", lambda: in_child("deep", os.setsid, 5)),
    "group": ("fork, setpgid", lambda: in_child("group", lambda: os.setpgid(0, 0))),
    "popen": ("Popen(start_new_session)", lambda: quiet(command("popen"), start_new_session=True)),
    "nohup": ("nohup", lambda: quiet(["nohup", *command("nohup")])),
    "setsid": ("setsid --fork", lambda: quiet(["setsid", "--fork", *command("setsid")])),
    "shell": ("sh -c '… & disown'", lambda: quiet(["sh", "-c", '"$@" &', "sh", *command("shell")])),
    "thread": ("threading.Thread(daemon)", as_thread),
}


def main() -> None:
    if sys.argv[2:3] == ["beat"]:
        beat(sys.argv[3])
        return
    for name, (how, start) in WAYS.items():
        add(f"leave a daemon behind: {name}", how, lambda n=name, s=start: alive(n, s))
    add("leave a daemon behind: at-exit", "atexit, fork, setsid, fork", at_exit)
    run_all()
    (HERE / settings()["submission"]).write_text("as the script left it\n")


if __name__ == "__main__":
    main()
