"""Contents in an experiment's `objects/`, by their SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import IO

from .errors import StoreError
from .zstd import open_compressed, zstd_errors

MOST_BYTES = 2**30


def read_text(objects: Path, name: str) -> str:
    """Raises StoreError if the object is missing, damaged or larger than a gibibyte."""
    path = objects / name[:2] / name[2:]
    try:
        content = _content(path, name)
    except zstd_errors() as error:
        raise StoreError(f"The object {path}.zst is damaged: {error}") from error
    if hashlib.sha256(content).hexdigest() != name:
        raise StoreError(f"The object {path} is damaged: its content has another hash.")
    return content.decode("utf-8", "replace")


def _content(path: Path, name: str) -> bytes:
    # An empty object whose name is not the hash of nothing was left by a power cut.
    if path.is_file() and (path.stat().st_size > 0 or name == hashlib.sha256(b"").hexdigest()):
        with path.open("rb") as file:
            return _bounded(file, path)
    compressed = path.with_name(f"{path.name}.zst")
    if not compressed.is_file():
        raise StoreError(
            f"The object {name} is missing in {path.parent.parent}.",
            "Copy the folder of the experiment with all of its objects.",
        )
    with compressed.open("rb") as file, open_compressed(file, compressed) as content:
        return _bounded(content, compressed)


def _bounded(file: IO[bytes], path: Path) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise StoreError(f"The object {path} has more than {MOST_BYTES} bytes.")
    return content
