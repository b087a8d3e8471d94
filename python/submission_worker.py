"""Hosts submitted code for a grader: a script that the harness starts in a sandbox without labels.

    python -I submission_worker.py --socket /exchange/grader.sock --module /workspace/train.py

It imports the module, says that it is ready, and calls the functions that the grader names. All
that leaves here is data that the grader distrusts: clocks, comparisons and scores are elsewhere.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import socket
import sys
import traceback
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Both sides of a comparison get one thread; this must be set before numpy is imported.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

with contextlib.suppress(ImportError):
    # Tasks whose functions take and return JSON may do without.
    import numpy

from mlab_task.frames import (
    BYTES_OF,
    Ended,
    Frame,
    RawArray,
    as_raw_arrays,
    receive_frame,
    send_frame,
)

MOST_BYTES = 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description="Host submitted code for a grader.")
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--module", type=Path, required=True)
    arguments = parser.parse_args()
    module_file = arguments.module.resolve()
    connection = connect(arguments.socket)
    try:
        os.chdir(module_file.parent)
        module = import_module(module_file)
    except BaseException:
        send_frame(connection, Frame("error", {"message": traceback.format_exc()[-4_000:]}))
        return
    send_frame(connection, Frame("ready", {}))
    serve(connection, module)


def connect(path: Path) -> socket.socket:
    """A short relative name is used: the system allows only about 100 characters."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(path.parent)
    connection.connect(path.name)
    return connection


def import_module(file: Path) -> ModuleType:
    """Imports a file by its name, not as `__main__`."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def serve(connection: socket.socket, module: ModuleType) -> None:
    """Answers one call after another until the grader closes the connection."""
    while True:
        try:
            request = receive_frame(connection, MOST_BYTES)
        except Ended:
            return
        try:
            send_frame(connection, answer(module, request))
        except Ended:
            return


def answer(module: ModuleType, request: Frame) -> Frame:
    """Calls a function with the request's arrays and options; echoes the request's id."""
    identity = {"id": request.values["id"]}
    try:
        function = getattr(module, request.values["function"])
        result = function(*map(as_array, request.arrays), **request.values["options"])
    except BaseException:
        return Frame("error", {**identity, "message": traceback.format_exc()[-4_000:]})
    if request.values.get("returns") == "json":
        return json_answer(request.values["function"], identity, result)
    results = result if isinstance(result, tuple) else (result,)
    for part in results:
        if not isinstance(part, numpy.ndarray) or part.dtype.str not in BYTES_OF:
            kind = getattr(part, "dtype", type(part).__name__)
            return Frame(
                "unfit", {**identity, "message": f"{request.values['function']} gave {kind}"}
            )
    return Frame("result", identity, as_raw_arrays(results))


def json_answer(function: str, identity: dict[str, str], result: object) -> Frame:
    """The result as the bytes of its JSON text."""
    try:
        data = json.dumps(result, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return Frame("unfit", {**identity, "message": f"{function} gave no JSON: {error}"})
    return Frame("result", identity, (RawArray("|u1", (len(data),), data),))


def as_array(raw: RawArray) -> "numpy.ndarray":
    return numpy.frombuffer(raw.data, dtype=raw.dtype).reshape(raw.shape)


if __name__ == "__main__":
    main()
