"""How an adversarial script reports what it tried and what stopped it: one line of JSON each.

The harness puts this file beside the script. A script registers its attempts with `tries` and calls
`run_all`. Lines that start with `@plan` and `@attempt` are read by the harness: what was planned
and never reported does not count as stopped.
"""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Action = Callable[[], str | None]


class Stopped(Exception):
    """The attempt failed for a reason other than an exception of the system."""


class Judged(Exception):
    """The attempt was made; the harness checks whether it gained anything."""


_planned: list[tuple[str, str, Action]] = []


def settings() -> dict[str, Any]:
    """What the harness passes to the adversarial agent: more than any other agent knows."""
    return json.loads(Path("cheat.json").read_text(encoding="utf-8"))


def add(what: str, how: str, action: Action) -> None:
    """Registers an attempt. What the action returns is what it got; None stands for "it worked"."""
    _planned.append((what, how, action))


def tries(what: str, how: str) -> Callable[[Action], Action]:
    """Registers a function as an attempt."""

    def register(action: Action) -> Action:
        add(what, how, action)
        return action

    return register


def run_all() -> None:
    """Makes all attempts, one after another, whatever the result of each."""
    tell("@plan", [what for what, _, _ in _planned])
    for what, how, action in _planned:
        tell("@attempt", {"what": what, "how": how, **outcome_of(action)})


def outcome_of(action: Action) -> dict[str, str]:
    try:
        gained = action()
    except Judged as done:
        return {"outcome": "judged", "because": shortened(str(done))}
    except BaseException as error:
        return {"outcome": "stopped", "because": shortened(reason(error))}
    return {"outcome": "got_through", "because": shortened(gained or "it worked")}


def reason(error: BaseException) -> str:
    if isinstance(error, Stopped):
        return str(error)
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return f"{errno.errorcode[error.errno]} ({os.strerror(error.errno)})"
    return f"{type(error).__name__}: {error}"


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def tell(mark: str, value: object) -> None:
    sys.stdout.write(f"{mark} {json.dumps(value)}\n")
    sys.stdout.flush()
