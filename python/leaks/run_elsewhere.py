"""Runs a script as if on another day and another machine: `run_elsewhere.py SCRIPT ARGUMENTS...`.

Changes what prepared data must not depend on: the time, the umask, the state of random number
generators, and the order in which folders are listed.
"""

import ctypes
import datetime
import gc
import os
import random
import runpy
import sys
import time
from collections.abc import Callable, Iterator

DAYS = 400
SHIFT = 86_400.0 * DAYS + 3_723


def shift_clock() -> None:
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + SHIFT
    time.time_ns = lambda: now_ns() + int(SHIFT * 1e9)

    def later(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return cls.fromtimestamp(time.time(), tz)

    def later_utc(cls: type[datetime.datetime]) -> datetime.datetime:
        return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

    def later_day(cls: type[datetime.date]) -> datetime.date:
        return cls.fromtimestamp(time.time())

    replace_methods(datetime.datetime, now=later, utcnow=later_utc)
    replace_methods(datetime.date, today=later_day)


def replace_methods(of: type, **methods: Callable) -> None:
    """
    Replaces class methods of a built-in class. A subclass in its place would not do: compiled
    packages such as pandas check the size of the class, and `isinstance` its name.
    """
    (attributes,) = gc.get_referents(of.__dict__)
    for name, method in methods.items():
        attributes[name] = classmethod(method)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(of))


class Listed:
    """The entries of a folder, last first; closed like those of os.scandir."""

    def __init__(self, entries: list[os.DirEntry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry]:
        return self._entries

    def __next__(self) -> os.DirEntry:
        return next(self._entries)

    def __enter__(self) -> "Listed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def turn_listings() -> None:
    listdir, scandir = os.listdir, os.scandir

    def listed(path: object = ".") -> list:
        return sorted(listdir(path), reverse=True)

    def scanned(path: object = ".") -> Listed:
        with scandir(path) as entries:
            return Listed(sorted(entries, key=lambda entry: entry.name, reverse=True))

    os.listdir, os.scandir = listed, scanned


def main() -> None:
    sys.argv = sys.argv[1:]
    os.umask(0o077)
    random.seed(os.urandom(16))
    shift_clock()
    turn_listings()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
