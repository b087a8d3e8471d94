"""Finds what could be rewritten in a script, and tells it as one line of JSON."""

import difflib
import faulthandler
import json
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# The script that runs, and what its files hold; how long may be looked for rewrites.
ENTRY = "train.py"
SCRIPTS = [["train.py", ""]]
MOST_SECONDS = 20

MOST_CHARACTERS = 16_000
"""Of all that is told: the middle of longer print-outs is cut."""


@dataclass
class Offer:
    """A rewrite as in rewrite.ts, with the texts of all files that it changes."""

    name: str
    change: str
    reason: str
    weight: float
    effort: float
    files: dict[str, str]
    isProven: bool = False  # noqa: N815  It was seen to give the same results.


class OutOfTimeError(Exception):
    pass


def tell(find: Callable[[dict[str, str]], Iterator[Offer]]) -> None:
    """Prints what was found within the time: the first offers, where not all of them fit."""
    files = {path: text for path, text in SCRIPTS}
    # A call that Python cannot interrupt ends the whole program.
    faulthandler.dump_traceback_later(MOST_SECONDS + 5, exit=True)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(MOST_SECONDS)
    told: list[dict[str, Any]] = []
    size = 0
    try:
        for offer in find(files):
            entry = {**asdict(offer), "edits": edits_of(files, offer.files)}
            del entry["files"]
            size += len(json.dumps(entry))
            if size > MOST_CHARACTERS:
                break
            told.append(entry)
    except OutOfTimeError:
        pass
    except Exception:
        print(traceback.format_exc()[-1_000:], file=sys.stderr)
    signal.alarm(0)
    Path(__file__).unlink(missing_ok=True)
    sys.stdout.write(f"\nOFFERS {json.dumps({'offers': told})}\n")
    sys.stdout.flush()


def stop(*_: object) -> None:
    raise OutOfTimeError


def edits_of(before: dict[str, str], after: dict[str, str]) -> list[dict[str, Any]]:
    edits = []
    for path, text in after.items():
        old, new = before[path].split("\n"), text.split("\n")
        for kind, first, end, start, stop_ in difflib.SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes():
            if kind != "equal":
                place = {"path": path, "first": first, "end": end}
                edits.append({**place, "lines": new[start:stop_]})
    return edits
