"""How a grader talks to the harness: messages on a separate pipe, answers on standard input.

A message is one line of the pipe that MLAB_HARNESS names: a word that the harness gave as the first
line of standard input, a blank, and a JSON object. Whatever the grader, a library or a child
process prints is log output, never a message. A grader that is started by hand prints its messages.
"""

import functools
import json
import os
import sys
from typing import Any

from mlab_task.problems import plain


class HarnessError(Exception):
    """The grader can't continue, for a reason other than the submission's content."""


class Harness:
    """Sends a grader's messages to the harness."""

    def __init__(self, pipe: int, word: str) -> None:
        """`word`: empty for a grader that is started by hand, so that nobody is there."""
        self._messages = os.fdopen(pipe, "w", encoding="ascii", closefd=False)
        self._start = f"{word} " if word else ""
        self.is_there = word != ""

    def tell(self, message: str, **content: Any) -> None:
        """Sends a message that has no answer.

        :raises ValueError, TypeError: the content can't be represented as JSON
        """
        line = json.dumps({"message": message, **content}, allow_nan=False)
        self._messages.write(f"{self._start}{line}\n")
        self._messages.flush()

    def ask(self, message: str, **content: Any) -> dict[str, Any]:
        """Sends a message and waits for its answer.

        :raises HarnessError: the harness could not do what was requested
        """
        self.tell(message, **content)
        line = sys.stdin.readline()
        if not line:
            raise HarnessError(f"no answer to {message}")
        try:
            answer = json.loads(line)
            done, reason = answer["ok"], answer.get("message", "no reason given")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise HarnessError(f"{message}: no proper answer: {plain(line)}") from None
        if done is not True:
            raise HarnessError(f"{message}: {reason}")
        return answer


@functools.cache
def connect_harness() -> Harness:
    """The harness that started this grader; connected once, before any submission is read."""
    path = os.environ.get("MLAB_HARNESS")
    if path is None:
        return Harness(sys.stdout.fileno(), "")
    return Harness(os.open(path, os.O_WRONLY), sys.stdin.readline().strip())
