"""Frames between the grader and a submission worker: data only, checked before it is used.

A frame is the length of its header (8 bytes, big-endian), the header (JSON in UTF-8), and the bytes
of the arrays that the header names in `arrays`, one after another, in C order and little-endian.
"""

import json
import math
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BYTES_OF = {"<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4, "|u1": 1}
LONGEST_HEADER = 65_536
MOST_ARRAYS = 8
MOST_DIMENSIONS = 8


class BadFrame(Exception):
    """What arrived is not a frame, or exceeds the limits."""


class Ended(Exception):
    """The other side closed the connection."""


@dataclass(frozen=True)
class RawArray:
    """An array as its type (a key of BYTES_OF), its shape, and its bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | bytearray | memoryview

    @property
    def nbytes(self) -> int:
        return BYTES_OF[self.dtype] * math.prod(self.shape)


@dataclass(frozen=True)
class Frame:
    """A message of a kind, with JSON values and arrays."""

    kind: str
    values: dict[str, Any]
    arrays: tuple[RawArray, ...] = ()


def send_frame(connection: socket.socket, frame: Frame, deadline: float | None = None) -> None:
    """Sends a whole frame.

    :param deadline: on time.monotonic(); after it TimeoutError is raised
    :raises Ended: the other side is gone
    :raises ValueError: its values are too long for a header
    """
    arrays = [{"dtype": array.dtype, "shape": list(array.shape)} for array in frame.arrays]
    header = {"kind": frame.kind, "values": frame.values, "arrays": arrays}
    encoded = json.dumps(header).encode()
    if len(encoded) > LONGEST_HEADER:
        raise ValueError(
            f"the values of {frame.kind} are {len(encoded):,} bytes of JSON; at most"
            f" {LONGEST_HEADER:,} can be sent: pass long ones as arrays"
        )
    try:
        for part in (len(encoded).to_bytes(8, "big") + encoded, *(a.data for a in frame.arrays)):
            connection.settimeout(_left(deadline))
            connection.sendall(part)
    except TimeoutError:
        raise
    except OSError as error:
        raise Ended(str(error)) from None


def receive_frame(
    connection: socket.socket, most_bytes: int, deadline: float | None = None
) -> Frame:
    """Receives a frame whose arrays have at most this many bytes in total.

    :param deadline: on time.monotonic(); TimeoutError is raised when the frame is late
    :raises BadFrame: anything else arrived
    :raises Ended: the other side is gone
    """
    length = int.from_bytes(_receive(connection, 8, deadline), "big")
    if length > LONGEST_HEADER:
        raise BadFrame(f"a header of {length:,} bytes")
    kind, values, outlines = _parse_header(_receive(connection, length, deadline))
    if sum(outline.nbytes for outline in outlines) > most_bytes:
        raise BadFrame(f"arrays of more than {most_bytes:,} bytes")
    arrays = tuple(
        RawArray(outline.dtype, outline.shape, _receive(connection, outline.nbytes, deadline))
        for outline in outlines
    )
    return Frame(kind, values, arrays)


def _parse_header(encoded: bytes | bytearray) -> tuple[str, dict[str, Any], list[RawArray]]:
    try:
        header = json.loads(encoded)
    except (ValueError, RecursionError):
        raise BadFrame("a header that is not JSON") from None
    if not isinstance(header, dict):
        raise BadFrame("a header that is not a JSON object")
    kind, values, arrays = (header.get(name) for name in ("kind", "values", "arrays"))
    if not (isinstance(kind, str) and isinstance(values, dict) and isinstance(arrays, list)):
        raise BadFrame("a header without kind, values or arrays")
    if len(arrays) > MOST_ARRAYS:
        raise BadFrame(f"{len(arrays)} arrays")
    return kind, values, [_parse_array(array) for array in arrays]


def _parse_array(entry: object) -> RawArray:
    dtype = entry.get("dtype") if isinstance(entry, dict) else None
    shape = entry.get("shape") if isinstance(entry, dict) else None
    if not isinstance(dtype, str) or dtype not in BYTES_OF:
        raise BadFrame("an array of a type that is not allowed")
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise BadFrame("an array without a proper shape")
    if not all(type(size) is int and 0 <= size <= 2**32 for size in shape):
        raise BadFrame("an array without a proper shape")
    return RawArray(dtype, tuple(shape), b"")


def as_raw_arrays(arrays: Sequence[Any]) -> tuple[RawArray, ...]:
    """Converts numpy arrays for a frame, without pickling."""
    return tuple(RawArray(array.dtype.str, tuple(array.shape), array.tobytes()) for array in arrays)


def _receive(connection: socket.socket, size: int, deadline: float | None) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        connection.settimeout(_left(deadline))
        try:
            count = connection.recv_into(view)
        except TimeoutError:
            raise
        except OSError as error:
            raise Ended(str(error)) from None
        if count == 0:
            raise Ended("the connection was closed")
        view = view[count:]
    return data


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
