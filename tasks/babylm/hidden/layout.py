"""Checks the format of submitted files without the packages that read them.

Loading those takes seconds, which is not needed to reject a file that is no model at all. What
passes here is checked again when it is read.
"""

import json
import struct
from pathlib import Path

from mlab_task.problems import Rejected

MOST_BYTES = {"config.json": 10**6, "tokenizer.json": 32 * 10**6}
WEIGHTS = "model.safetensors"
LONGEST_HEADER = 10**7


def check_layout(model: Path) -> None:
    """:raises Rejected: too_large or unreadable"""
    for name, most_bytes in MOST_BYTES.items():
        if (model / name).stat().st_size > most_bytes:
            raise Rejected("too_large", f"{name}: larger than {most_bytes:,} bytes")
        check_object((model / name).read_bytes(), name)
    check_object(header(model / WEIGHTS), f"{WEIGHTS}, its header")


def header(file: Path) -> bytes:
    """The JSON header of a safetensors file, which follows its length in 8 bytes.

    :raises Rejected: unreadable
    """
    with file.open("rb") as opened:
        start = opened.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if length > LONGEST_HEADER or 8 + length > file.stat().st_size:
            raise Rejected("unreadable", f"{WEIGHTS}: not in the safetensors format")
        return opened.read(length)


def check_object(content: bytes, name: str) -> None:
    """:raises Rejected: unreadable"""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise Rejected("unreadable", f"{name}: not valid JSON") from None
    if not isinstance(value, dict):
        raise Rejected("unreadable", f"{name}: not an object")
