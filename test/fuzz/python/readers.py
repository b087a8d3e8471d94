"""Runs inputs through the code with which graders and services read submissions and requests.

A script: `readers.py TARGET` reads inputs from standard input, each after its length in 4 bytes,
and answers each with a line of JSON: what went wrong, if anything, and which lines of the project's
code ran for the first time.
"""

import importlib.util
import io
import json
import math
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
for folder in (
    "python",
    "tasks/babylm/hidden",
    "tasks/clrs/env",
    "tasks/literature-review-tool/hidden",
):
    sys.path.insert(0, str(ROOT / folder))

from mlab_task import (  # noqa: E402
    csv_check,
    declaration,
    frames,
    problems,
    python_names,
    search,
    submission,
    unix_http,
)

MOST_SECONDS = 25
MOST_MEMORY = 2 * 2**30
MOST_MESSAGE = 20_000
SPLIT = b"\n===\n"
IDS = tuple(f"id{number}" for number in range(40))
COLUMNS = (
    declaration.Column("y", "number", 0.0, 10.0),
    declaration.Column("n", "integer", values=("1", "2", "3")),
    declaration.Column("t", "text", values=("True", "False")),
    declaration.Column("free", "text"),
)


def read_csv(data: bytes) -> None:
    declared = declaration.CsvFile("submission.csv", "id", "test.csv", COLUMNS)
    outcome = csv_check.check_csv(io.BytesIO(data), declared, IDS)
    if isinstance(outcome, list):
        assert outcome, "a table, or a problem"
        for problem in outcome:
            assert len(problem.message) < MOST_MESSAGE, "a problem is told in a few words"
            assert problem.message.isprintable(), "a problem holds no control characters"
    else:
        assert all(0 <= value <= 10 for value in outcome.numbers("y")), "only what is allowed"


def read_frame(data: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        sender = threading.Thread(target=_send, args=(far, data))
        sender.start()
        try:
            while True:
                frame = frames.receive_frame(near, 2**20)
                assert sum(array.nbytes for array in frame.arrays) <= 2**20, "no more than allowed"
                assert all(len(array.data) == array.nbytes for array in frame.arrays), (
                    "whole arrays"
                )
        except (frames.BadFrame, frames.Ended):
            pass
        finally:
            near.close()
            sender.join()


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def read_layout(data: bytes) -> None:
    import layout

    folder = Path(os.environ["FUZZ_FOLDER"])
    config, _, rest = data.partition(SPLIT)
    tokenizer, _, weights = rest.partition(SPLIT)
    for name, content in (
        ("config.json", config),
        ("tokenizer.json", tokenizer),
        ("model.safetensors", weights),
    ):
        (folder / name).write_bytes(content)
    layout.check_layout(folder)


def read_config(data: bytes) -> None:
    import config

    try:
        text = data.decode("utf-8")
        read = config.read_config(text)
    except ValueError as error:
        assert len(str(error)) < MOST_MESSAGE, "a problem is told in a few words"
    else:
        assert config.read_config(config.write_config(read)) == read, (
            "a config is written as it is read"
        )


def read_weights(data: bytes) -> None:
    grade = _grader_of_networks()
    folder = Path(os.environ["FUZZ_FOLDER"])
    settings, _, rest = data.partition(SPLIT)
    changes, _, numbers = rest.partition(SPLIT)
    (folder / grade.CONFIG).write_bytes(settings)
    (folder / grade.WEIGHTS).write_bytes(_packed_weights(settings, changes, numbers))
    model = grade.load_model(
        submission.Submission("fuzzed", folder, {}, (grade.CONFIG, grade.WEIGHTS))
    )
    assert all(part.isfinite().all() for part in model.parameters()), "no weight is infinite"


@cache
def _grader_of_networks() -> ModuleType:
    """Takes seconds: it imports torch."""
    os.environ["MLAB_HELPERS"] = str(ROOT / "python")
    file = ROOT / "tasks/clrs/hidden/grade.py"
    spec = importlib.util.spec_from_file_location("grader_of_networks", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _packed_weights(settings: bytes, changes: bytes, numbers: bytes) -> bytes:
    """
    A safetensors file: the header that fits the settings, changed as a JSON object says, then the
    numbers, repeated until they suffice. If that is impossible: the given header, after its length.
    """
    import config

    try:
        changed = json.loads(changes)
        shapes = _shapes_of(config.read_config(settings.decode()))
        if changes.startswith(b" ") or not isinstance(changed, dict):
            raise ValueError
    except (ValueError, RecursionError):
        return len(changes).to_bytes(8, "little") + changes + numbers
    header: dict[str, Any] = {}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    kept = {name: value for name, value in {**header, **changed}.items() if value is not None}
    encoded = json.dumps(kept).encode()
    body = (numbers * (end // max(1, len(numbers)) + 1))[:end]
    return len(encoded).to_bytes(8, "little") + encoded + body


@cache
def _shapes_of(settings: Any) -> dict[str, list[int]]:
    grade = _grader_of_networks()
    with grade.torch.device("meta"):
        parts = grade.Reasoner(settings).state_dict()
    return {name: list(part.shape) for name, part in parts.items()}


def read_module(data: bytes) -> None:
    import ast

    try:
        body = ast.parse(data).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    assert all(isinstance(name, str) for name in python_names.top_level_names(body))


def read_request(data: bytes) -> None:
    """One connection to a service, as its thread serves it."""
    near, far = socket.socketpair()
    failed: list[str] = []
    with near, far:
        server = _Service(failed)
        thread = threading.Thread(target=_serve, args=(near, server))
        sender = threading.Thread(target=_send, args=(far, data))
        unix_http._Handler.timeout = 1
        thread.start()
        sender.start()
        answer = b""
        try:
            while part := far.recv(65536):
                answer += part
        except OSError:
            pass
        thread.join()
        sender.join()
        assert not failed, failed
        assert b" 500 " not in answer[:40], "no request is a fault of ours"


class _Service:
    def __init__(self, failed: list[str]) -> None:
        self.failed = failed
        self.index = search.Index(["graphs of trees", "a tree", "more of the same"])

    def respond(self, path: str, fields: Any) -> unix_http.Answer:
        found = self.index.search(fields.get("q", ""))
        return unix_http.Answer(200, "application/json", json.dumps(found).encode())


def _serve(connection: socket.socket, server: _Service) -> None:
    try:
        unix_http._Handler(connection, "", server)  # type: ignore[arg-type]
    except OSError:
        pass
    except Exception:
        server.failed.append(traceback.format_exc())
    finally:
        connection.close()


READERS: dict[str, Callable[[bytes], None]] = {
    "csv": read_csv,
    "frame": read_frame,
    "layout": read_layout,
    "config": read_config,
    "weights": read_weights,
    "module": read_module,
    "request": read_request,
}


class Coverage:
    """Lines of the project's code that ran; each is reported once."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int, int]] = set()
        self.known: set[tuple[str, int, int]] = set()
        self._last = 0

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(str(ROOT)):
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, self._last, frame.f_lineno))
            self._last = frame.f_lineno
        return self.trace

    def fresh(self) -> list[str]:
        new = self.lines - self.known
        self.known |= new
        self.lines.clear()
        return [f"{file}:{one}-{other}" for file, one, other in new]


def main() -> None:
    reader = READERS[sys.argv[1]]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    coverage = Coverage()
    threading.settrace(coverage.trace)
    while len(head := sys.stdin.buffer.read(4)) == 4:
        data = sys.stdin.buffer.read(int.from_bytes(head, "big"))
        # The process that waits for the answer notices the end of this one.
        signal.alarm(MOST_SECONDS)
        fault = None
        sys.settrace(coverage.trace)
        try:
            reader(data)
        except problems.Rejected:
            pass
        except Exception:
            sys.settrace(None)
            fault = traceback.format_exc()
        sys.settrace(None)
        signal.alarm(0)
        print(json.dumps({"fault": fault, "covered": coverage.fresh()}), flush=True)


if __name__ == "__main__":
    main()
