"""Submits forged files that only a careless reader accepts.

python file_forger.py NAME PATH    writes one forged file over a submission's
"""

import io
import json
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from attempts import Judged, add, run_all, settings

RESULTS = json.dumps(
    {
        "results": [
            {"submission": "submission", "valid": True, "score": settings()["best"], "problems": []}
        ]
    }
)


class Payload:
    """Runs when it is unpickled: prints a grader's results, as if it were the grader."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (os.write, (1, f"\n{RESULTS}\n".encode()))


def zipped_pickle() -> bytes:
    """The layout of torch.save."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(Payload()))
        file.writestr("archive/version", "3\n")
    return archive.getvalue()


def safetensors(tensors: dict[str, dict[str, object]], data: bytes) -> bytes:
    """Eight bytes of length, a header in JSON, and the numbers."""
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header)) + header + data


def tensor(shape: list[int], start: int, end: int) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}


FILES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "empty": ("nothing", lambda _: b""),
    "results": ("a grader's results", lambda _: RESULTS.encode()),
    "list": ("a list where an object is expected", lambda _: b"[" * 5_000 + b"]" * 5_000),
    "half": ("its first half", lambda honest: honest[: len(honest) // 2]),
    "noise": ("random bytes", lambda honest: os.urandom(max(64, len(honest)))),
    "pickle": ("a pickle that runs code", lambda _: pickle.dumps(Payload())),
    "zipped-pickle": ("a checkpoint that runs code", lambda _: zipped_pickle()),
    "long-header": ("a header of 2^60 bytes", lambda _: struct.pack("<Q", 2**60) + b"{}"),
    "huge-shape": (
        "a tensor larger than any memory",
        lambda _: safetensors({"weight": tensor([2**31, 2**31], 0, 4)}, b"\0" * 4),
    ),
    "nan": (
        "weights that are no numbers",
        lambda _: safetensors({"weight": tensor([1], 0, 4)}, struct.pack("<f", float("nan"))),
    ),
}


def submit(name: str, path: Path) -> None:
    honest = path.read_bytes() if path.is_file() else b""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FILES[name][1](honest))
    raise Judged("written")


if __name__ == "__main__":
    chosen, target = sys.argv[1], Path(sys.argv[2])
    add(f"submit {FILES[chosen][0]} as {target}", str(target), lambda: submit(chosen, target))
    run_all()
