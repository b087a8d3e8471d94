"""Mounts file systems of limited size and, whatever happens to the harness, unmounts them.

Reads a request per line and answers each with `{"id", "fault", "path"}`:
- `{"id", "do": "mount", "image", "place", "bytes"}` mounts a new file system of so many bytes, a
  multiple of 4096, at a folder. The file of the image is gone again before the answer.
- `{"id", "do": "unmount"}`, with the number of a mount.
- `{"id", "do": "view", "keep"}` makes a mount namespace as this one without these mounts, except
  those at the places to keep. Its path leads to it until `{"id", "do": "close"}`.
At the end of the input, as when the harness dies, everything is unmounted.

Makes the system calls itself: programs for them take ten times the time. Only root may do this.
"""

import ctypes
import errno
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys

MAKE = (
    "mkfs.ext4 -q -F -b 4096 -i 4096 -I 256 -m 0 -O ^has_journal,^resize_inode"
    " -E lazy_itable_init=1,nodiscard"
).split()
OPTIONS = b"nobarrier,noinit_itable"

# Of linux/mount.h, linux/sched.h and linux/loop.h.
MS_NOSUID, MS_NODEV, MS_NOATIME, MNT_DETACH = 2, 4, 1024, 2
MS_REC, MS_PRIVATE, CLONE_NEWNS = 1 << 14, 1 << 18, 1 << 17
LOOP_SET_FD, LOOP_SET_STATUS64, LOOP_CTL_GET_FREE = 0x4C00, 0x4C04, 0x4C82
LO_FLAGS_AUTOCLEAR = 4
# struct loop_info64: its flags follow five numbers of 64 bits and three of 32.
LOOP_INFO = struct.pack("@5Q4I", 0, 0, 0, 0, 0, 0, 0, 0, LO_FLAGS_AUTOCLEAR).ljust(232, b"\0")
TRIES = 100

MOUNTS = "/proc/self/ns/mnt"

own_mounts = os.open(MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
root = os.open("/", os.O_RDONLY | os.O_CLOEXEC)
libc = ctypes.CDLL(None, use_errno=True)
mounted = {}
views = {}
written = {}


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        id, action = request.pop("id"), request.pop("do")
        answer = {"id": id, "fault": None, "path": None}
        try:
            answer["path"] = ACTIONS[action](id, **request)
        except OSError as error:
            answer["fault"] = str(error)
        try:
            print(json.dumps(answer), flush=True)
        except OSError:
            break
    for number in list(mounted):
        try:
            unmount(number)
        except OSError:
            pass


def mount(id, image, place, bytes):
    """Raises OSError; nothing is left then."""
    file = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_file_system(file, bytes)
        path, device = loop_device(file)
    finally:
        os.unlink(image)
        os.close(file)
    try:
        flags = MS_NOSUID | MS_NODEV | MS_NOATIME
        where = os.fsencode(path), os.fsencode(place)
        call(libc.mount, *where, b"ext4", flags, OPTIONS, about=place)
    finally:
        # The mount keeps the device; without one, it is free again.
        os.close(device)
    mounted[id] = place
    try:
        os.rmdir(os.path.join(place, "lost+found"))
    except OSError:
        unmount(id)
        raise


def unmount(id):
    place = mounted.pop(id)
    call(libc.umount2, os.fsencode(place), MNT_DETACH, about=place)


def view(id, keep):
    """The path of a namespace."""
    try:
        # Whether this may come back, and to the root folder that it has now.
        come_back()
        if not os.path.samestat(os.fstat(root), os.stat("/")):
            raise OSError("whoever enters a namespace has another root folder than this process")
        call(libc.unshare, CLONE_NEWNS, about="mounts")
        call(libc.mount, None, b"/", None, MS_REC | MS_PRIVATE, None, about="/")
        for place in set(mounted.values()).difference(keep):
            call(libc.umount2, os.fsencode(place), MNT_DETACH, about=place)
        views[id] = os.open(MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        come_back()
        os.fchdir(root)
        os.chroot(".")
    return f"/proc/{os.getpid()}/fd/{views[id]}"


def come_back():
    call(libc.setns, own_mounts, CLONE_NEWNS, about=MOUNTS)


def close(id):
    os.close(views.pop(id))


def write_file_system(file, size):
    """Writes an empty file system of this size; what a new one consists of is made once."""
    if size not in written:
        written[size] = parts_of_new(size)
    os.ftruncate(file, size)
    for offset, content in written[size]:
        os.pwrite(file, content, offset)


def parts_of_new(size):
    """The offset and bytes of each part of a new file system that is not all zeros."""
    file = os.memfd_create("new")
    try:
        os.ftruncate(file, size)
        made = subprocess.run(
            [*MAKE, f"/proc/self/fd/{file}"],
            pass_fds=[file],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if made.returncode != 0:
            raise OSError(" ".join(made.stdout.split()))
        parts = []
        end = 0
        while has_data(file, end):
            start = os.lseek(file, end, os.SEEK_DATA)
            end = os.lseek(file, start, os.SEEK_HOLE)
            parts.append((start, os.pread(file, end - start, start)))
        return parts
    finally:
        os.close(file)


def has_data(file, offset):
    try:
        os.lseek(file, offset, os.SEEK_DATA)
        return True
    except OSError:
        return False


def loop_device(file):
    """The path of a block device with the contents of this file, and the open device, which is
    freed when nothing uses it."""
    with open("/dev/loop-control", "rb") as control:
        for _ in range(TRIES):
            path = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            device = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, LOOP_SET_FD, file)
                fcntl.ioctl(device, LOOP_SET_STATUS64, LOOP_INFO)
                return path, device
            except OSError as error:
                os.close(device)
                # Another process was faster.
                if error.errno != errno.EBUSY:
                    raise
    raise OSError("no loop device is free")


def call(function, *arguments, about):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about)


ACTIONS = {"mount": mount, "unmount": unmount, "view": view, "close": close}

if __name__ == "__main__":
    main()
