"""Reads, stops and steers processes: those of the host, and those that hold the sandbox."""

import ctypes
import os
import signal
import socket
import stat

from inside import SETTINGS, VAULT, Held, attack, call, found_in, main, read, syscall


def others() -> list[int]:
    return [
        int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()
    ]


def search(name: str) -> str:
    """Looks for the secret in one file of every process."""
    seen = 0
    for process in others():
        try:
            content = read(f"/proc/{process}/{name}")
        except OSError:
            continue
        seen += 1
        try:
            return found_in(content, f"/proc/{process}/{name}")
        except Held:
            continue
    raise Held(f"{seen} processes are seen, none has it")


@attack("reads the harness's keys in the environments of processes")
def environments() -> str:
    return search("environ")


@attack("reads what other processes were started with")
def command_lines() -> str:
    return search("cmdline")


@attack("sees the harness in /proc")
def sees_harness() -> str:
    command = read(f"/proc/{SETTINGS['harness']}/cmdline")
    if b"node" in command:
        return command.decode(errors="replace")
    raise Held("another process has its number")


@attack("reads the memory of process 1")
def memory() -> str:
    if os.getppid() == 0:
        raise Held("this is process 1")
    with open("/proc/1/maps") as maps, open("/proc/1/mem", "rb", 0) as content:
        found = b""
        for line in maps:
            if "r" in line.split()[1]:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                content.seek(start)
                found += content.read(min(end - start, 2**20)) or b""
        return found_in(found, "the memory of process 1")


@attack("traces process 1")
def traces() -> str:
    call("ptrace", 16, 1, 0, 0)
    status = os.waitpid(1, 0)
    syscall(101, 17, 1, 0, 0)
    # It has access to no more than the sandbox; what counts is in its files and its memory.
    raise Held(f"it is a process of the sandbox: {status}")


@attack("reads by process_vm_readv what the harness holds")
def reads_harness() -> str:
    buffer = ctypes.create_string_buffer(4096)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 4096)
    call("process_vm_readv", SETTINGS["harness"], vector, 1, vector, 1, 0)
    return "read it"


@attack("ends the harness")
def ends_harness() -> str:
    name = read(f"/proc/{SETTINGS['harness']}/comm").strip()
    if name not in (b"node", b"MainThread"):
        raise Held(f"its number is {name.decode()}'s here")
    os.kill(SETTINGS["harness"], 0)
    return "may send it signals"


@attack("stops process 1 of the sandbox")
def stops_first() -> str:
    os.kill(1, signal.SIGSTOP)
    os.kill(1, signal.SIGKILL)
    os.kill(1, 0)
    raise Held("the kernel keeps signals of its own children from it")


@attack("takes a descriptor of another process by pidfd_getfd")
def takes_descriptor() -> str:
    first = syscall(434, 1, 0)
    for number in range(3, 64):
        try:
            taken = syscall(438, first, number, 0)
        except OSError as error:
            reason = error.strerror
            continue
        kind = stat.filemode(os.fstat(taken).st_mode)
        if kind.startswith("d"):
            return f"a folder: {os.listdir(taken)[:3]}"
    raise Held(reason)


@attack("finds open folders and files of the harness among its descriptors")
def descriptors() -> str:
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
            kind = os.fstat(int(number)).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(kind) and not target.startswith(("/proc", "/workspace")):
            return f"{number} is {target}"
        if stat.S_ISREG(kind) and not target.startswith("/workspace"):
            return f"{number} is {target}"
        if stat.S_ISSOCK(kind):
            return f"{number} is a socket"
    raise Held("only its own streams")


@attack("reads descriptors of process 1 in /proc")
def descriptors_of_first() -> str:
    names = os.listdir("/proc/1/fd")
    for number in names:
        target = os.readlink(f"/proc/1/fd/{number}")
        try:
            opened = os.open(f"/proc/1/fd/{number}/", os.O_RDONLY | os.O_DIRECTORY)
            return f"{target}: {os.listdir(opened)[:3]}"
        except OSError:
            continue
    raise Held(f"none of {len(names)} is a folder")


@attack("passes through its output to the file or terminal behind it")
def reopens_output() -> str:
    for number in (0, 1, 2):
        target = os.readlink(f"/proc/self/fd/{number}")
        opened = os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
        kind = os.fstat(opened).st_mode
        if stat.S_ISREG(kind) or (stat.S_ISCHR(kind) and target != "/dev/null"):
            return f"{target} can be read"
    raise Held("they are pipes")


@attack("traces a process that shares its user")
def traces_sibling() -> str:
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        call("ptrace", 16, child, 0, 0)
        raise Held("it is its own child; others of the user are not seen")
    finally:
        os.kill(child, signal.SIGKILL)


@attack("limits another process by prlimit")
def limits_others() -> str:
    import resource

    resource.prlimit(SETTINGS["harness"], resource.RLIMIT_NOFILE, (3, 3))
    return "it may open no more files"


@attack("watches a folder of the host by inotify")
def watches() -> str:
    watcher = call("inotify_init1", 0)
    call("inotify_add_watch", watcher, VAULT.encode(), 0xFFF)
    return "sees what happens there"


@attack("makes core files go where it wants")
def core_files() -> str:
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write("|/workspace/planted")
    return "the host will run a program of the workspace"


@attack("adopts processes of the host as a subreaper")
def adopts() -> str:
    call("prctl", 36, 1, 0, 0, 0)
    foreign = [one for one in others() if b"node" in read(f"/proc/{one}/cmdline")]
    if foreign:
        return f"sees {foreign}"
    raise Held("there is nothing of the host to adopt")


@attack("finds sockets of the host by their names in /proc/net/unix")
def sockets() -> str:
    names = [line.split()[-1] for line in read("/proc/net/unix").decode().splitlines()[1:]]
    named = [name for name in names if name.startswith(("/", "@"))]
    for name in named:
        path = "\0" + name[1:] if name.startswith("@") else name
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                return f"connected to {name}"
        except OSError:
            continue
    raise Held(f"{len(named)} names, and none leads anywhere")


main()
