"""Runs submitted code for a grader, which never imports it: the harness starts it elsewhere.

At the grader's request, the harness starts `submission_worker.py` in a separate sandbox; it
connects to a socket that the grader listens on. Clock, comparison and score stay in the grader.
"""

import contextlib
import json
import os
import secrets
import select
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mlab_task.frames import BadFrame, Ended, Frame, RawArray, receive_frame, send_frame
from mlab_task.harness import Harness, HarnessError, connect_harness
from mlab_task.problems import Rejected, plain, plain_lines

STARTER = "starter"
SOCKET = "grader.sock"


class SubmissionWorker:
    """One process that hosts a submission's code."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        # Whether the process closed its end.
        self.gone = False

    def call(
        self,
        function: str,
        arrays: Sequence[RawArray],
        options: dict[str, Any],
        *,
        seconds: float,
        most_bytes: int,
    ) -> tuple[tuple[RawArray, ...], float]:
        """Calls a function and returns its arrays, and the seconds from the first byte sent to the
        last one received.

        :param seconds: the longest that it may take
        :param most_bytes: limit on the bytes of the answer's arrays
        :raises Rejected: timed_out, crashed or wrong_output
        """
        values = {"function": function, "options": options}
        return self._call(function, values, arrays, seconds, most_bytes)

    def call_json(
        self, function: str, options: dict[str, Any], *, seconds: float, most_bytes: int
    ) -> tuple[Any, float]:
        """Calls a function by keyword with JSON values.

        Gives the JSON value that it returns, and the seconds from the first byte to the last.
        The options may take about 60,000 bytes, the answer `most_bytes`.

        :raises Rejected: timed_out, crashed, or wrong_output if the answer is not JSON
        :raises ValueError: the options are too long
        """
        values = {"function": function, "options": options, "returns": "json"}
        arrays, elapsed = self._call(function, values, (), seconds, most_bytes)
        if len(arrays) != 1 or arrays[0].dtype != "|u1":
            raise Rejected("wrong_output", f"{function} gave no JSON value")
        try:
            # NaN and Infinity are not JSON, though Python reads them.
            return json.loads(bytes(arrays[0].data), parse_constant=_refuse), elapsed
        except (ValueError, RecursionError):
            raise Rejected("wrong_output", f"{function} gave no JSON value") from None

    def _call(
        self,
        function: str,
        values: dict[str, Any],
        arrays: Sequence[RawArray],
        seconds: float,
        most_bytes: int,
    ) -> tuple[tuple[RawArray, ...], float]:
        if select.select([self._connection], [], [], 0)[0]:
            # Also readable when the process has ended; reading shows which is the case.
            self._receive(0, time.monotonic() + seconds, "before it was called")
            raise Rejected("wrong_output", "the submitted code spoke before it was called")
        identity = secrets.token_hex(8)
        start = time.perf_counter()
        deadline = time.monotonic() + seconds
        try:
            send_frame(
                self._connection, Frame("call", {"id": identity, **values}, tuple(arrays)), deadline
            )
        except TimeoutError:
            raise Rejected("timed_out", f"{function} took no input within {seconds:g} s") from None
        except Ended:
            self.gone = True
            raise Rejected("crashed", f"the process ended before {function} was called") from None
        frame = self._receive(most_bytes, deadline, f"in {function}, given {seconds:g} s")
        elapsed = time.perf_counter() - start
        if frame.kind != "result" or frame.values.get("id") != identity:
            raise Rejected("wrong_output", f"{function} gave no answer to what was asked")
        return frame.arrays, elapsed

    def await_ready(self, seconds: float) -> None:
        """Waits until the module is imported."""
        frame = self._receive(0, time.monotonic() + seconds, f"in its import, given {seconds:g} s")
        if frame.kind != "ready":
            raise Rejected("wrong_output", "the submitted code spoke before it was ready")

    def _receive(self, most_bytes: int, deadline: float, when: str) -> Frame:
        try:
            frame = receive_frame(self._connection, most_bytes, deadline)
        except TimeoutError:
            raise Rejected("timed_out", f"the submitted code took too long {when}") from None
        except Ended:
            self.gone = True
            raise Rejected("crashed", f"the submitted code's process ended {when}") from None
        except BadFrame as error:
            raise Rejected("wrong_output", f"the submitted code sent {error} {when}") from None
        message = str(frame.values.get("message", ""))
        if frame.kind == "error":
            error = plain_lines(message, 800)
            raise Rejected("crashed", f"the submitted code raised an error {when}:\n{error}")
        if frame.kind == "unfit":
            raise Rejected("wrong_output", f"no array of an allowed type: {plain(message)}")
        return frame


def _refuse(constant: str) -> None:
    raise ValueError(constant)


@contextlib.contextmanager
def running_worker(
    exchange: Path | None, submission: str, *, start_seconds: float = 60, import_seconds: float = 60
) -> Iterator[SubmissionWorker]:
    """A fresh process with the submission's code, imported and ready; ended afterwards.

    :param exchange: folder of the socket, `exchange` of the grader's arguments
    :param submission: name of the submission, or STARTER for the task's own files
    :raises HarnessError: the harness could not start or stop it
    :raises Rejected: the submitted code could not be imported, took more memory than there is, or
        has used up the time of its grading
    """
    if exchange is None:
        raise HarnessError(
            "this grader runs submitted code: set grading.runs_submission: true in task.yaml"
        )
    harness = connect_harness()
    with _listening(exchange) as listener:
        _ask(harness, "start_worker", submission=submission)
        worker = None
        try:
            listener.settimeout(start_seconds)
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                raise HarnessError(f"the process for {submission} never connected") from None
            # Nothing else may connect: closing the listener drops queued connections.
            listener.close()
            with connection:
                worker = SubmissionWorker(connection)
                worker.await_ready(import_seconds)
                yield worker
        except BaseException:
            # The harness may know a better reason.
            _ask(harness, "stop_worker", gone=worker is not None and worker.gone)
            raise
        _ask(harness, "stop_worker", gone=False)


@contextlib.contextmanager
def _listening(exchange: Path) -> Iterator[socket.socket]:
    """A new socket, bound by a relative name: the system allows only about 100 characters."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            os.chdir(exchange)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(SOCKET)
            listener.bind(SOCKET)
            listener.listen(1)
        except OSError as error:
            raise HarnessError(f"cannot listen in the exchange folder: {error}") from None
        yield listener


def _ask(harness: Harness, message: str, **content: Any) -> None:
    """:raises Rejected: the harness ended the process for what the submitted code did"""
    ended = harness.ask(message, **content).get("ended")
    if ended is not None:
        raise Rejected(ended["code"], ended["message"])
