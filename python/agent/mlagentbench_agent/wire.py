"""JSON-RPC on standard input and output, one message per line: docs/agent-protocol.md."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class RequestRefused(Exception):
    """The harness can't process a request: a mistake in the agent."""


class SomeWire(Protocol):
    """Answers the requests of an agent: the harness, or a fake in tests."""

    def ask(self, method: str, params: Mapping[str, Any]) -> Any: ...

    def ask_all(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]: ...

    def tell(self, method: str, params: Mapping[str, Any]) -> None: ...


class Wire:
    """The connection to the harness. The agent's output is sent as messages, too."""

    def __init__(self) -> None:
        self._lines = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
        self._out = os.fdopen(os.dup(1), "wb")
        self._lock = threading.Lock()
        self._last_id = 0
        # Reads of standard input get nothing, and prints can't corrupt the protocol.
        sys.stdin = io.StringIO()
        sys.stdout = sys.stderr = Printed(self)

    def read(self) -> Any:
        """The next message; ends the process if the harness has closed the connection."""
        line = self._lines.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._write(self._request(method, params))
        return _result(self.read())

    def ask_all(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        if not asked:
            return []
        self._write([self._request(method, params) for method, params in asked])
        return [_result(answer) for answer in self.read()]

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, request: Mapping[str, Any], result: Any) -> None:
        self._write({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def fail(self, request: Mapping[str, Any], message: str) -> None:
        error = {"code": -32000, "message": message}
        self._write({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def _write(self, message: Any) -> None:
        line = json.dumps(message, allow_nan=False).encode()
        with self._lock:
            # A library may have printed half a line, bypassing Python.
            self._out.write(b"\n" + line + b"\n")
            self._out.flush()


class Printed(io.TextIOBase):
    """Sends printed output line by line."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._pending = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._pending += text
        if "\n" in self._pending:
            whole, _, self._pending = self._pending.rpartition("\n")
            self._wire.tell("log", {"text": whole + "\n"})
        return len(text)


def _result(answer: Mapping[str, Any]) -> Any:
    if "error" in answer:
        raise RequestRefused(answer["error"]["message"])
    return answer["result"]
