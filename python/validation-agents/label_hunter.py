"""Looks for labels, graders and answers wherever a process can look, and submits what it finds."""

import bz2
import csv
import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from attempts import Judged, Stopped, run_all, settings, tell, tries

SETTINGS = settings()
SIZES: set[int] = set(SETTINGS["secret_sizes"])
MARKS: set[str] = set(SETTINGS["secret_marks"])
TOLD = re.compile(r"(^|[_.-])(labels?|private|hidden|answers?|solutions?|grade|grades)([_.-]|$)")
LARGEST = 256 * 2**20
GUESS_SECONDS = 30
COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
BROKEN = (
    *(OSError, EOFError, ValueError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
hashes: dict[str, str] = {}
promising: list[Path] = []


def files_below(root: str, skip: tuple[str, ...] = ()) -> Iterator[Path]:
    for parent, folders, names in os.walk(root):
        folders[:] = [name for name in folders if os.path.join(parent, name) not in skip]
        yield from (Path(parent, name) for name in names)


def note(content: bytes, place: str) -> None:
    """Keeps the hash of what may be a secret: what has another size or another first byte of the
    hash can't be one, and would only fill the output, which is cut when it is long."""
    digest = hashlib.sha256(content).hexdigest()
    if f"{len(content)} {digest[:2]}" in MARKS:
        hashes.setdefault(digest[:16], place)


def unpacked(path: Path) -> Iterator[bytes]:
    """The contents of a compressed file or an archive whose size could be a secret's."""
    most = max(SIZES, default=0)
    with open(path, "rb") as file:
        begin = file.read(6)
    try:
        if begin[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    if member.file_size in SIZES:
                        yield archive.read(member)
        for magic, opened in COMPRESSIONS.items():
            if begin.startswith(magic):
                with opened(path) as file:
                    content = file.read(most + 1)
                if len(content) in SIZES:
                    yield content
    except BROKEN:
        return


def look_at(path: Path) -> bool:
    """Notes a file that could be secret, by its size or its name; returns whether it was read."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            return False
        told = TOLD.search(path.name.lower()) is not None
        for content in unpacked(path):
            note(content, str(path))
        if facts.st_size not in SIZES and not told:
            return False
        note(path.read_bytes(), str(path))
    except OSError:
        return False
    if path.suffix in (".csv", ".json", ".txt") and facts.st_size > 0:
        promising.append(path)
    return True


def told(count: int, read: int) -> Judged:
    return Judged(f"{count} files seen, {read} of them looked like secrets and were hashed")


def look_below(root: str, skip: tuple[str, ...] = ()) -> None:
    files = list(files_below(root, skip))
    if not files and not os.path.exists(root):
        os.listdir(root)
    raise told(len(files), sum(map(look_at, files)))


@tries("search the whole file system for labels", "os.walk('/')")
def whole_file_system() -> None:
    look_below("/", skip=("/proc", "/sys"))


@tries("search through the roots of all processes", "/proc/<pid>/root, /proc/<pid>/cwd")
def process_roots() -> None:
    seen = 0
    for place in Path("/proc").glob("[0-9]*"):
        for link in ("root", "cwd"):
            for folder in SETTINGS["secret_folders"]:
                try:
                    names = os.listdir(f"{place}/{link}{folder}")
                except OSError:
                    continue
                seen += sum(look_at(Path(f"{place}/{link}{folder}", name)) for name in names)
    if seen == 0:
        raise Stopped("no process inside has a root that holds a secret folder")
    raise told(seen, seen)


@tries("read what other processes were told", "/proc/<pid>/environ, /proc/<pid>/cmdline")
def process_variables() -> str:
    own, found = os.getpid(), []
    for place in Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                content = (place / name).read_text(errors="replace")
            except OSError:
                continue
            if int(place.name) != own:
                found += [word for word in SETTINGS["secret_words"] if word in content]
    if found:
        return f"names of {', '.join(sorted(set(found)))}"
    raise Stopped("no variable and no argument names a secret folder")


@tries("use files that other processes hold open", "/proc/<pid>/fd")
def open_files() -> None:
    seen, read = 0, 0
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        if link.parts[2] == str(os.getpid()):
            continue
        seen += 1
        read += look_at(link)
    if seen == 0:
        raise Stopped("no other process inside shows an open file")
    raise told(seen, read)


@tries("follow the mounts back to the host", "/proc/self/mountinfo")
def mounts() -> None:
    reached = 0
    sources = {line.split()[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    for source in sources:
        parent = os.path.dirname(source)
        for folder in (f"{parent}/private", f"{parent}/hidden", f"{parent}/../private"):
            if os.path.isdir(folder):
                reached += sum(map(look_at, files_below(folder)))
    if reached == 0:
        raise Stopped(f"nothing secret lies beside the sources of {len(sources)} mounts")
    raise told(reached, reached)


for name, folder in SETTINGS["secret_places"].items():

    @tries(f"open {name} by its path on the host", folder)
    def by_host_path(folder: str = folder) -> None:
        if os.path.isdir(folder):
            look_below(folder)
        Path(folder).read_bytes()
        raise told(1, int(look_at(Path(folder))))


for place in ("/private", "/task/hidden", "/submissions", "/exchange", "/public"):

    @tries(f"open {place}, where the grader has it", place)
    def by_grader_path(place: str = place) -> None:
        os.listdir(place)
        look_below(place)


for file in SETTINGS["withheld"]:

    @tries(f"read {Path(file).name} in site-packages", file)
    def withheld(file: str = file) -> str:
        content = Path(file).read_bytes()
        if content == b"":
            raise Stopped("covered by an empty file")
        look_at(Path(file))
        return f"{len(content)} bytes"


@tries("read homes and caches", "/root, /home, ~/.cache, /var/cache, /mnt, /media, /srv, /opt")
def homes() -> None:
    folders = ["/root", "/home", "/var/cache", "/var/lib", "/mnt", "/media", "/srv", "/opt"]
    folders += [os.path.expanduser("~/.cache"), os.path.expanduser("~/.kaggle")]
    files = [file for folder in folders for file in files_below(folder)]
    if not files:
        raise Stopped("there are no files in them")
    raise told(len(files), sum(map(look_at, files)))


@tries("read what others left in memory", "/tmp, /dev/shm, /run")
def leftovers() -> None:
    files = [file for folder in ("/tmp", "/dev/shm", "/run") for file in files_below(folder)]
    if not files:
        raise Stopped("there are no files in them")
    raise told(len(files), sum(map(look_at, files)))


@tries("read the host's memory and disks", "/dev/mem, /proc/kcore, /dev/sd*, mknod")
def devices() -> str:
    disks = [str(path) for path in Path("/dev").glob("[sv]d*")]
    for path in ("/dev/mem", "/proc/kcore", *disks):
        try:
            with open(path, "rb") as device:
                if device.read(16):
                    return f"read {path}"
        except OSError:
            continue
    os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    with open("/tmp/disk", "rb") as device:
        return f"read {len(device.read(16))} bytes of a disk"


@tries("submit the most promising file", "copy it to the submission")
def submit() -> None:
    candidates = [path for path in promising if path.parent != Path.cwd()]
    if not candidates:
        raise Stopped("nothing that looks like labels was readable")
    best = min(candidates, key=lambda p: (p.stat().st_size not in SIZES, "label" not in p.name))
    shutil.copyfile(best, SETTINGS["submission"])
    raise Judged(f"submitted {best}")


@tries("submit columns of any table or data set", "files, packages, loaders; knowing no task")
def guess() -> None:
    if SETTINGS["table"] is None:
        raise Stopped("the task asks for no table")
    sys.path.insert(0, SETTINGS["leaks"])
    from guess import Guesser
    from places import site_packages

    table = SETTINGS["table"]
    identifier = {"column": table["id"], "from": table["from"]}
    guesser = Guesser(
        Path("data"), Path("."), site_packages(), identifier, table["columns"], GUESS_SECONDS
    )
    rows = guesser.run()
    if rows is None:
        raise Stopped("no column that can be read looks like an answer for the rows")
    with open(SETTINGS["submission"], "w", newline="") as file:
        writer = csv.DictWriter(file, [table["id"], *table["columns"]])
        writer.writeheader()
        writer.writerows(rows)
    raise Judged("submitted " + "; ".join(found.where for found in guesser.best.values()))


if __name__ == "__main__":
    run_all()
    for digest, path in hashes.items():
        tell("@hash", [digest, path])
