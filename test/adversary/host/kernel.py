"""Asks the kernel for what an ordinary process in a sandbox should not get."""

import ctypes
import fcntl
import mmap
import os
import platform
import struct
import termios

from inside import Held, Skipped, attack, call, main, syscall

# System call numbers of x64; those of the newer calls are the same everywhere.
NUMBERS = {
    "keyctl": 250,
    "add_key": 248,
    "perf_event_open": 298,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "kexec_load": 246,
    "init_module": 175,
    "finit_module": 313,
    "open_by_handle_at": 304,
    "name_to_handle_at": 303,
    "fanotify_init": 300,
    "open_tree": 428,
    "fsopen": 430,
    "mount_setattr": 442,
    "quotactl": 179,
    "syslog": 103,
    "swapon": 167,
    "acct": 163,
    "iopl": 172,
    "clock_settime": 227,
    "sethostname": 170,
    "reboot": 169,
    "vhangup": 153,
}


def number(name: str) -> int:
    if platform.machine() != "x86_64":
        raise Skipped(f"numbers of system calls for {platform.machine()} are not known here")
    return NUMBERS[name]


@attack("becomes root by setuid")
def set_uid() -> str:
    if os.getuid() == 0:
        raise Held("it is root already, without capabilities")
    os.setuid(0)
    return "it is root"


@attack("takes capabilities back")
def capabilities() -> str:
    effective = [line for line in open("/proc/self/status") if line.startswith("Cap")]
    held = {line.split(":")[0]: int(line.split()[1], 16) for line in effective}
    if not any(held[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")):
        raise Held(f"none are held; bounding set {held['CapBnd']:x}")
    return str(held)


@attack("makes a user namespace with mounts of its own")
def user_namespace() -> str:
    call("unshare", 0x10000000 | 0x00020000)
    return "it is root in a namespace of its own"


@attack("makes a user namespace by clone3")
def user_namespace_clone3() -> str:
    arguments = struct.pack("=11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    pid = syscall(435, ctypes.c_char_p(arguments), ctypes.c_long(len(arguments)))
    if pid == 0:
        os._exit(0)
    return "a child in a namespace of its own"


@attack("makes a user namespace by clone")
def user_namespace_clone() -> str:
    if platform.machine() != "x86_64":
        raise Skipped("written for x64")
    pid = syscall(56, ctypes.c_ulong(0x10000000 | 17), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return "a child in a namespace of its own"


@attack("joins the namespaces of process 1")
def join_all() -> str:
    reasons = []
    for kind in ("mnt", "net", "pid", "user", "ipc", "uts", "cgroup"):
        try:
            if os.readlink(f"/proc/1/ns/{kind}") == os.readlink(f"/proc/self/ns/{kind}"):
                raise Held("they are the same as its own")
            with open(f"/proc/1/ns/{kind}") as namespace:
                call("setns", namespace.fileno(), 0)
            return f"joined {kind}"
        except (OSError, Held) as reason:
            reasons.append(str(reason))
    raise Held(reasons[0])


@attack("mounts a file system")
def mount() -> str:
    call("mount", b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None)
    return "mounted a tmpfs"


@attack("makes a read-only mount writable")
def remount() -> str:
    call("mount", None, b"/workspace/data", None, ctypes.c_ulong(0x1000 | 0x20), None)
    return "remounted it"


@attack("binds a folder over a read-only one")
def bind() -> str:
    os.mkdir("bound")
    call("mount", b"bound", b"/workspace/data", None, ctypes.c_ulong(0x1000), None)
    return "bound it"


@attack("takes a cover off by umount")
def unmount() -> str:
    call("umount2", b"/workspace/data/hidden.csv", 2)
    return "unmounted it"


@attack("mounts by the newer calls")
def new_mount_calls() -> str:
    reasons = []
    for name, arguments in {
        "open_tree": (-100, b"/", 1),
        "fsopen": (b"tmpfs", 0),
        "mount_setattr": (-100, b"/workspace/data", 0, b"\0" * 32, 32),
    }.items():
        try:
            syscall(number(name), *arguments)
            return name
        except OSError as error:
            reasons.append(f"{name}: {error.strerror}")
    raise Held("; ".join(reasons))


@attack("makes a device file")
def device() -> str:
    os.mknod("memory", 0o20666, os.makedev(1, 1))
    return "made /dev/mem anew"


@attack("opens devices of the host")
def devices() -> str:
    names = ("mem", "kmem", "port", "sda", "vda", "nvme0n1", "loop0", "loop-control", "kvm", "fuse")
    names += ("kmsg", "vsock", "vhost-vsock", "vhost-net", "net/tun", "uinput", "input/event0")
    names += ("mapper/control", "snd/timer", "watchdog", "rtc0", "userfaultfd", "tty0", "console")
    opened = []
    for name in names:
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDWR | os.O_NONBLOCK))
            opened.append(name)
        except OSError:
            continue
    if opened:
        return f"opened {opened}"
    raise Held(f"none of {len(names)} can be opened")


def asks(name: str, *arguments):
    return lambda: f"{name} gave {syscall(number(name), *arguments)}"


attack("reads the user's session keys")(asks("keyctl", 0, -3, 1))
attack("adds a session key")(asks("add_key", b"user", b"planted", b"x", 1, -4))
attack("measures other processes by perf events")(
    asks("perf_event_open", b"\0" * 128, 0, -1, -1, 0)
)
attack("loads a program into the kernel by bpf")(asks("bpf", 0, b"\0" * 128, 128))
attack("handles page faults itself by userfaultfd")(asks("userfaultfd", 0))
attack("makes calls past the filter by io_uring")(
    asks("io_uring_setup", 4, ctypes.create_string_buffer(256))
)
attack("loads another kernel")(asks("kexec_load", 0, 0, None, 0))
attack("loads a module by its bytes")(asks("init_module", b"x", 1, b""))
attack("loads a module by a file")(asks("finit_module", 0, b"", 0))
attack("watches the host's files by fanotify")(asks("fanotify_init", 0, 0))
attack("reads the kernel's log")(asks("syslog", 3, ctypes.create_string_buffer(4096), 4096))
attack("adds swap")(asks("swapon", b"/tmp/swap", 0))
attack("turns accounting on")(asks("acct", b"/tmp/acct"))
attack("takes the right to all ports")(asks("iopl", 3))
attack("renames the machine")(asks("sethostname", b"mine", 4))
attack("restarts the machine with a wrong command")(
    asks("reboot", 0xFEE1DEAD - 2**32, 672274793, 0x89ABCDEF - 2**32, None)
)
attack("hangs up the terminal")(asks("vhangup"))
attack("changes quotas")(asks("quotactl", 0x800001 << 8, b"/dev/sda", 0, None))


@attack("sets the clock")
def clock() -> str:
    now = os.times().elapsed
    syscall(number("clock_settime"), 0, struct.pack("=qq", int(now), 0))
    return "set it"


@attack("opens a file by its handle")
def by_handle() -> str:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + b"\0" * 128)
    mount_id = ctypes.c_int()
    syscall(number("name_to_handle_at"), -100, b"/workspace", handle, ctypes.byref(mount_id), 0)
    folder = os.open("/workspace", os.O_RDONLY)
    opened = syscall(number("open_by_handle_at"), folder, handle, os.O_RDONLY)
    return f"opened a handle as {opened}"


@attack("uses 32-bit system calls to pass the filter")
def foreign_calls() -> str:
    if platform.machine() != "x86_64":
        raise Skipped("written for x64")
    # mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; ret
    code = b"\xb8\x36\x01\x00\x00\xbb\x00\x00\x00\x10\xcd\x80\xc3"
    return f"unshare gave {run_code(code)}"


def run_code(code: bytes) -> int:
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


@attack("uses the x32 table of system calls to pass the filter")
def x32_calls() -> str:
    if platform.machine() != "x86_64":
        raise Skipped("written for x64")
    return f"unshare gave {syscall(0x40000000 + 272, 0x10000000)}"


@attack("types into the terminal of the user")
def types() -> str:
    terminal = os.open("/dev/tty", os.O_RDWR)
    for letter in b"echo planted\n":
        fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))
    return "typed a line"


@attack("types into its standard streams")
def types_into_streams() -> str:
    for stream in (0, 1, 2):
        try:
            fcntl.ioctl(stream, termios.TIOCSTI, b"x")
            return f"typed into {stream}"
        except OSError as error:
            reason = str(error)
    raise Held(reason)


@attack("pastes by TIOCLINUX")
def pastes() -> str:
    fcntl.ioctl(0, 0x541C, b"\x03\0")
    return "pasted"


@attack("writes kernel settings in /proc/sys")
def kernel_settings() -> str:
    paths = ("kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "vm/drop_caches")
    paths += ("fs/binfmt_misc/register", "kernel/hostname", "vm/overcommit_memory")
    paths += ("net/ipv4/ip_forward", "kernel/yama/ptrace_scope", "kernel/ns_last_pid")
    for path in paths:
        try:
            with open(f"/proc/sys/{path}", "r+b", buffering=0) as file:
                file.write(file.read(4096) or b"0")
            return f"wrote {path}"
        except OSError as error:
            reason = error.strerror
    raise Held(f"{len(paths)} files: {reason}")


@attack("asks for magic keys in /proc/sysrq-trigger")
def magic_keys() -> str:
    with open("/proc/sysrq-trigger", "w") as file:
        file.write("h")
    return "the kernel printed its help"


@attack("writes settings of devices and groups in /sys")
def system_settings() -> str:
    written = []
    for folder, _, files in os.walk("/sys"):
        for name in files:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NOFOLLOW))
                written.append(os.path.join(folder, name))
            except OSError:
                continue
        if written:
            return f"may write {written[0]}"
    raise Held("nothing of /sys can be written")


@attack("reads the kernel's memory")
def kernel_memory() -> str:
    with open("/proc/kcore", "rb") as file:
        return f"read {len(file.read(64))} bytes"


@attack("gives a file capabilities of its own")
def file_capabilities() -> str:
    with open("capable", "w") as file:
        file.write("x")
    value = struct.pack("<5I", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
    os.setxattr("capable", "security.capability", value)
    return "set them"


@attack("gives a file to another user")
def gives_away() -> str:
    with open("given", "w") as file:
        file.write("x")
    for user in (0, 1, 1001, 65534):
        try:
            os.chown("given", user, user)
        except OSError as error:
            reason = error.strerror
            continue
        if user != os.getuid():
            return f"it belongs to {user}"
    raise Held(reason)


@attack("gains rights by running setuid programs")
def setuid_programs() -> str:
    with open("/proc/self/status") as file:
        if "NoNewPrivs:\t1" not in file.read():
            return "no_new_privs is not set"
    raise Held("no_new_privs is set")


@attack("raises its own limits")
def raises_limits() -> str:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard == resource.RLIM_INFINITY:
        return "the size of a file is not limited"
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard + 1, hard + 1))
    except ValueError as error:
        raise Held(str(error)) from None
    return "raised it"


@attack("takes a higher priority")
def priority() -> str:
    before = os.nice(0)
    os.nice(-5)
    return f"{before} to {os.nice(0)}"


@attack("asks for real-time scheduling")
def real_time() -> str:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "it runs before all others"


@attack("locks memory without bound")
def locks_memory() -> str:
    call("mlockall", 3)
    held = mmap.mmap(-1, 2**28)
    call("mlock", ctypes.byref(ctypes.c_char.from_buffer(held)), ctypes.c_size_t(2**28))
    return "locked 256 MiB"


main()
