"""Zstandard: part of Python since 3.14, before that the package backports.zstd."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from .errors import StoreError

try:
    from compression import zstd
except ImportError:
    try:
        from backports import zstd
    except ImportError:
        zstd = None


def open_compressed(file: IO[bytes], path: Path) -> IO[bytes]:
    if zstd is None:
        raise StoreError(
            f"{path} is compressed with Zstandard, which this Python can't read.",
            "Install it with: pip install backports.zstd",
        )
    content: IO[bytes] = zstd.ZstdFile(file)
    return content


def zstd_errors() -> tuple[type[Exception], ...]:
    """The exceptions for damaged files."""
    return (EOFError,) if zstd is None else (EOFError, zstd.ZstdError)
