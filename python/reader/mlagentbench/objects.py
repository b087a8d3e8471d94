"""Contents in an experiment's `objects/`, by their SHA-256."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import IO

from .errors import StoreError
from .zstd import open_compressed, zstd_errors

MOST_BYTES = 2**30
# Of a pack: docs/trace-format.md describes them.
ENTRY_BYTES = 43
PACK_END = b"mlab pack 1\n"


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
        return _packed(path.parent.parent, name)
    with compressed.open("rb") as file, open_compressed(file, compressed) as content:
        return _bounded(content, compressed)


def _packed(objects: Path, name: str) -> bytes:
    for path in sorted((objects / "packs").glob("*.pack")):
        with path.open("rb") as file:
            entry = _find(file, bytes.fromhex(name))
            if entry is None:
                continue
            file.seek(int.from_bytes(entry[32:38], "big"))
            stored = io.BytesIO(file.read(int.from_bytes(entry[38:42], "big")))
        if entry[42] == 0:
            return _bounded(stored, path)
        with open_compressed(stored, path) as content:
            return _bounded(content, path)
    raise StoreError(
        f"The object {name} is missing in {objects}.",
        "Copy the folder of the experiment with all of its objects.",
    )


def _find(pack: IO[bytes], wanted: bytes) -> bytes | None:
    """The entry of a content in the sorted index of a pack; None if it has none, or is no pack."""
    size = pack.seek(0, io.SEEK_END)
    pack.seek(max(0, size - len(PACK_END) - 4))
    end = pack.read()
    if not end.startswith(PACK_END):
        return None
    count = int.from_bytes(end[len(PACK_END) :], "big")
    index = size - len(end) - count * ENTRY_BYTES
    low, high = 0, count if index >= 0 else 0
    while low < high:
        middle = (low + high) // 2
        pack.seek(index + middle * ENTRY_BYTES)
        entry = pack.read(ENTRY_BYTES)
        if entry[:32] == wanted:
            return entry
        if entry[:32] < wanted:
            low = middle + 1
        else:
            high = middle
    return None


def _bounded(file: IO[bytes], path: Path) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise StoreError(f"The object {path} has more than {MOST_BYTES} bytes.")
    return content
