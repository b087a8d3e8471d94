"""The events of a run's trace, read from its files: needs neither mlab nor pandas."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .errors import StoreError
from .objects import read_text
from .zstd import open_compressed, zstd_errors

# mlab writes no longer line, and no newer version of the format.
MOST_LINE_BYTES = 2**26
NEWEST_VERSION = 3

RUN_ID = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*", re.ASCII)
OBJECT_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


def events(
    experiment: str | os.PathLike[str], run: str, *, texts: bool = False
) -> Iterator[dict[str, Any]]:
    """Every event of a run's trace, of all branches, as docs/trace-format.md describes them.

    Nothing for a run that has not begun. An incomplete last line is skipped.

    experiment: the folder of an experiment, such as experiments/start-1
    texts: replaces the hashes of long texts, which are in objects, by the texts
    Raises StoreError if there is no such run, or a file is damaged.
    """
    folder = Path(experiment)
    if not (folder / "plan.json").is_file():
        raise StoreError(f"{folder} is not an experiment: it has no plan.json.")
    if not RUN_ID.fullmatch(run):
        raise StoreError(f"{run!r} is not the name of a run.", "Such as digits-automl-0.")
    place = folder / "runs" / run
    if not place.is_dir() and run not in _planned(folder):
        raise StoreError(
            f"The experiment {folder} has no run {run}.",
            "mlagentbench.runs(experiment) lists its runs.",
        )
    return _events(place / "trace.jsonl", folder / "objects" if texts else None)


def _planned(folder: Path) -> set[str]:
    """The names of a plan's runs; none if it can't be read."""
    try:
        plan = json.loads((folder / "plan.json").read_bytes())
        return {run["id"] for run in plan["runs"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        return set()


def _events(path: Path, objects: Path | None) -> Iterator[dict[str, Any]]:
    with _opened(path) as file:
        for number, line in enumerate(_lines(file, path) if file else (), start=1):
            where = f"{path}, line {number},"
            try:
                event = json.loads(line.decode("utf-8", "replace"), parse_constant=_no_number)
                event = event if objects is None else _with_texts(event, objects)
            except (ValueError, RecursionError) as error:
                raise StoreError(f"{where} is not valid JSON: {error}") from error
            if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
                raise StoreError(f"{where} is not an event.")
            version = event.get("v")
            if not isinstance(version, int):
                raise StoreError(f"{where} has no version.")
            if version > NEWEST_VERSION:
                raise StoreError(
                    f"{where} has version {version}, and this package knows {NEWEST_VERSION}.",
                    "Use the package that belongs to the mlab that wrote it.",
                )
            yield event


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Complete lines. Text after the last line break was being written when its writer died."""
    try:
        while line := file.readline(MOST_LINE_BYTES + 1):
            if not line.endswith(b"\n"):
                if len(line) > MOST_LINE_BYTES:
                    raise StoreError(f"{path} has a line of more than {MOST_LINE_BYTES} bytes.")
                return
            yield line
    except zstd_errors() as error:
        raise StoreError(f"{path}.zst is damaged: {error}") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | None]:
    """A trace, compressed or not; None if there is none."""
    compressed = path.with_name(f"{path.name}.zst")
    # The last try is for a trace that was just being uncompressed: the plain file appears first.
    for candidate in (path, compressed, path):
        try:
            # A pipe would block until somebody writes to it.
            descriptor = os.open(candidate, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            continue
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreError(f"{candidate} is not a regular file.")
            if candidate is compressed:
                with open_compressed(file, candidate) as content:
                    yield content
            else:
                yield file
        return
    yield None


def _with_texts(value: Any, objects: Path) -> Any:
    if isinstance(value, list):
        return [_with_texts(one, objects) for one in value]
    if not isinstance(value, dict):
        return value
    named = value.get("object")
    if value.keys() == {"object", "bytes"} and isinstance(named, str):
        if OBJECT_ID.fullmatch(named):
            return {"text": read_text(objects, named)}
    return {name: _with_texts(one, objects) for name, one in value.items()}


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
