"""Reads and writes files of the host that are not mounted."""

import os

from inside import SECRET_FILE, VAULT, Held, attack, call, found_in, main, read


@attack("reads a file of the host by its path")
def by_path() -> str:
    return found_in(read(SECRET_FILE), SECRET_FILE)


@attack("reads a file of the host through a link in the workspace")
def by_link() -> str:
    os.symlink(SECRET_FILE, "link-to-secret")
    return found_in(read("link-to-secret"), "a link")


@attack("reads a file of the host through the roots in /proc")
def by_other_roots() -> str:
    tried = 0
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    for process in [*processes, "self", "thread-self"]:
        for way in ("root", "cwd/../../../../../.."):
            path = f"/proc/{process}/{way}"
            try:
                return found_in(read(path + SECRET_FILE), path)
            except (OSError, Held):
                tried += 1
    raise Held(f"none of {tried} ways led to it")


@attack("climbs to the host by descriptors of folders")
def by_descriptors() -> str:
    folder = os.open(".", os.O_RDONLY)
    for _ in range(40):
        folder = os.open("..", os.O_RDONLY, dir_fd=folder)
    with os.fdopen(os.open(SECRET_FILE[1:], os.O_RDONLY, dir_fd=folder), "rb") as file:
        return found_in(file.read(), "the folder above all")


@attack("leaves a chroot by an open folder")
def by_chroot() -> str:
    os.mkdir("jail")
    folder = os.open(".", os.O_RDONLY)
    call("chroot", b"jail")
    os.fchdir(folder)
    for _ in range(40):
        os.chdir("..")
    call("chroot", b".")
    return found_in(read(SECRET_FILE), "another root")


@attack("links a file of the host into the workspace")
def by_hard_link() -> str:
    os.link(SECRET_FILE, "hard-link")
    return found_in(read("hard-link"), "a hard link")


@attack("writes into a folder of the host")
def writes() -> str:
    with open(f"{VAULT}/planted", "w") as file:
        file.write("x")
    return "wrote a file"


main()
