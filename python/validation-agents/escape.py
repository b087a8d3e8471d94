"""Tries to get out of the workspace from inside: links, `..`, host paths, namespaces, process 1."""

import ctypes
import os
import time
from pathlib import Path

from attempts import Judged, Stopped, add, run_all, settings, tries

SETTINGS = settings()
VAULT, SECRET = SETTINGS["vault"], SETTINGS["vault"] + "/secret.txt"
libc = ctypes.CDLL(None, use_errno=True)


def check(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def read(path: str) -> str:
    text = Path(path).read_text(errors="replace")
    return f"read {len(text)} characters" if SETTINGS["secret"] in text else not_it(text)


def not_it(text: str) -> str:
    raise Stopped(f"{len(text)} characters that are not the secret")


def through_link() -> str:
    os.symlink(SECRET, "link-to-file")
    return read("link-to-file")


def through_folder_link() -> str:
    os.symlink(VAULT, "link-to-folder")
    return read("link-to-folder/secret.txt")


def by_descriptor() -> str:
    folder = os.open(".", os.O_RDONLY)
    for _ in range(20):
        above = os.open("..", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = above
    with os.fdopen(os.open(SECRET.lstrip("/"), os.O_RDONLY, dir_fd=folder)) as file:
        return file.read()


def hard_link(source: str) -> str:
    os.link(source, "hard-link")
    os.unlink("hard-link")
    return "linked it"


add("follow a link to a secret file", SECRET, through_link)
add("follow a link to a secret folder", VAULT, through_folder_link)
add("climb with ..", "../" * 20, lambda: read("../" * 20 + SECRET.lstrip("/")))
add("climb by descriptors", "openat(fd, '..')", by_descriptor)
add("use the path on the host", SECRET, lambda: read(SECRET))
for root in ("/proc/self/root", "/proc/1/root", "/proc/1/cwd/../..", "/proc/thread-self/root"):
    add("use another root", root, lambda r=root: read(r + SECRET))
add("link the secret hard", SECRET, lambda: hard_link(SECRET))
add("link a system file hard", "/etc/passwd", lambda: hard_link("/etc/passwd"))
add("write on the host", f"{VAULT}/marker", lambda: str(Path(VAULT, "marker").write_text("x")))


@tries("change the root with an open folder", "chroot, then ..")
def change_root() -> str:
    os.mkdir("jail")
    os.chroot("jail")
    return "changed the root"


for kind in ("mnt", "net", "pid", "user"):

    @tries(f"join process 1's {kind} namespace", f"setns(/proc/1/ns/{kind})")
    def join(kind: str = kind) -> str:
        own = os.readlink(f"/proc/self/ns/{kind}")
        if os.readlink(f"/proc/1/ns/{kind}") == own:
            raise Stopped("process 1 inside has no other namespace than this one")
        with open(f"/proc/1/ns/{kind}", "rb") as file:
            check(libc.setns(file.fileno(), 0))
        return "joined it"


@tries("trace process 1", "ptrace(PTRACE_ATTACH, 1)")
def trace() -> None:
    check(libc.ptrace(16, 1, None, None))
    time.sleep(0.1)  # It must have stopped before it can be continued.
    libc.ptrace(17, 1, None, None)
    raise Judged("attached: process 1 inside is confined just as this one is")


@tries("write to process 1's memory", "/proc/1/mem")
def memory() -> str:
    with open("/proc/1/mem", "r+b", buffering=0):
        return "opened it"


for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):

    @tries("have the kernel run a program", path)
    def kernel(path: str = path) -> str:
        with open(path, "r+b"):
            return "opened it for writing"


@tries("have a control group run a program", "mount cgroup, release_agent")
def release_agent() -> str:
    os.makedirs("/tmp/cgroup", exist_ok=True)
    check(libc.mount(b"cgroup", b"/tmp/cgroup", b"cgroup", 0, b"memory"))
    return "mounted control groups"


@tries("open a file of the host by its handle", "open_by_handle_at")
def by_handle() -> str:
    handle = (ctypes.c_char * 16).from_buffer_copy(
        b"\x08\x00\x00\x00\x01\x00\x00\x00" + b"\x02" + b"\0" * 7
    )
    folder = os.open(".", os.O_RDONLY)
    check(libc.open_by_handle_at(folder, handle, 0))
    return "opened the root of the host's disk"


@tries("push characters into the terminal", "ioctl(TIOCSTI)")
def terminal() -> str:
    import fcntl
    import termios

    for descriptor in range(3):
        try:
            fcntl.ioctl(descriptor, termios.TIOCSTI, b"#")
            return f"descriptor {descriptor} took it"
        except OSError as error:
            last = error
    raise last


@tries("leave a link as the submission", SETTINGS["submission_target"])
def submission() -> None:
    name = SETTINGS["submission"]
    if os.path.lexists(name):
        os.unlink(name)
    os.symlink(SETTINGS["submission_target"], name)
    raise Judged("the link lies in the workspace")


if __name__ == "__main__":
    run_all()
