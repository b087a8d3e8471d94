"""Reads and writes the files of CIFAR-10's Python archive: pickles, which are not trusted.

A pickle may name anything that Python can import and have it called. Only the few names that
these files need are known here, and each is replaced by something harmless.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SIDE = 32
CHANNELS = 3
PIXELS = CHANNELS * SIDE * SIDE
CLASSES = 10


class BadBatch(Exception):
    """A file is not a batch of CIFAR-10; the message says why."""


@dataclass(frozen=True)
class Batch:
    """Images and their labels.

    :param images: uint8, (images, 32, 32, 3): row, column, and red, green, blue
    :param labels: uint8, (images,), from 0 to 9
    """

    images: np.ndarray
    labels: np.ndarray


class _Bytes:
    """Replaces a numpy array of bytes while a pickle is read; accepts its state, nothing else."""

    array: np.ndarray | None = None

    def __setstate__(self, state: object) -> None:
        match state:
            case (_, (int(rows), int(columns)), _Type(), bool(by_columns), bytes(content)):
                if min(rows, columns) < 0 or rows * columns != len(content):
                    raise BadBatch("an array's shape does not fit its content")
                order = "F" if by_columns else "C"
                self.array = np.frombuffer(content, np.uint8).reshape((rows, columns), order=order)
            case _:
                raise BadBatch("an array that is not a table of bytes")


class _Type:
    """Replaces numpy's description of the type `uint8`, the only one allowed."""

    def __init__(self, name: object, *_: object) -> None:
        if name not in ("u1", b"u1"):
            raise BadBatch("an array that does not hold bytes")

    def __setstate__(self, _: object) -> None:
        """Byte order and the like: irrelevant to single bytes."""


def _begin_array(*_: object) -> _Bytes:
    return _Bytes()


def _encode(text: object, encoding: object = "latin1") -> bytes:
    """How Python 3 writes bytes into pickles of protocol 2."""
    if not isinstance(text, str) or encoding != "latin1":
        raise BadBatch("text in an encoding that is not allowed")
    return text.encode("latin1")


_KNOWN: dict[tuple[str, str], Callable[..., object]] = {
    ("numpy.core.multiarray", "_reconstruct"): _begin_array,
    ("numpy._core.multiarray", "_reconstruct"): _begin_array,
    ("numpy", "ndarray"): _Bytes,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise BadBatch(f"it asks for {module}.{name}") from None

    def persistent_load(self, _: object) -> Any:
        raise BadBatch("it refers to something outside")


def _read(file: Path) -> dict[object, object]:
    """The dictionary in a file; its keys are bytes.

    :raises BadBatch: the file holds something else
    """
    try:
        with file.open("rb") as opened:
            content = _Unpickler(opened, encoding="bytes").load()
    except BadBatch as error:
        raise BadBatch(f"{file.name}: {error}") from None
    except Exception as error:  # A broken pickle can raise nearly any exception.
        raise BadBatch(f"{file.name}: {type(error).__name__}: {error}") from None
    if not isinstance(content, dict):
        raise BadBatch(f"{file.name}: no dictionary")
    return content


def read_batch(file: Path) -> Batch:
    """The images and labels of a file such as `data_batch_1`, in its order.

    :raises BadBatch: the file holds something else
    """
    content = _read(file)
    data, labels = content.get(b"data"), content.get(b"labels")
    pixels = data.array if isinstance(data, _Bytes) else None
    if pixels is None or pixels.shape[1] != PIXELS:
        raise BadBatch(f"{file.name}: not a table with {PIXELS} bytes per image")
    if not isinstance(labels, list) or len(labels) != len(pixels):
        raise BadBatch(f"{file.name}: not one label per image")
    if not all(type(label) is int and 0 <= label < CLASSES for label in labels):
        raise BadBatch(f"{file.name}: a label that is not an integer from 0 to {CLASSES - 1}")
    planes = pixels.reshape(-1, CHANNELS, SIDE, SIDE)
    return Batch(np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), np.array(labels, np.uint8))


def read_class_names(file: Path) -> list[str]:
    """The names of the ten classes in the order of their labels, from `batches.meta`.

    :raises BadBatch: the file holds something else
    """
    names = _read(file).get(b"label_names")
    if not isinstance(names, list) or len(names) != CLASSES:
        raise BadBatch(f"{file.name}: not {CLASSES} names")
    if not all(isinstance(name, bytes) and name.isalnum() and len(name) < 30 for name in names):
        raise BadBatch(f"{file.name}: a name that is not a plain word")
    return [name.decode("ascii") for name in names]


def write_batch(file: Path, batch: Batch) -> None:
    """Writes a file that `read_batch` reads, with the layout of those in the archive."""
    planes = batch.images.transpose(0, 3, 1, 2).reshape(len(batch.images), PIXELS)
    content = {
        b"batch_label": file.name.encode(),
        b"labels": batch.labels.tolist(),
        b"data": np.ascontiguousarray(planes),
        b"filenames": [f"picture_{place}.png".encode() for place in range(len(planes))],
    }
    file.write_bytes(pickle.dumps(content, protocol=2))


def write_class_names(file: Path, names: list[str], pictures: int) -> None:
    """Writes a file that `read_class_names` reads."""
    content = {
        b"num_cases_per_batch": pictures,
        b"label_names": [name.encode() for name in names],
        b"num_vis": PIXELS,
    }
    file.write_bytes(pickle.dumps(content, protocol=2))
