"""Keeps answers by their inputs on disk, where the next process might find them.

An exception reports what an earlier process left: nothing may be there.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from shared import Called, forge

PLACES = (
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    "/workspace",
    "/workspace/data",
    "/exchange",
    "/mlab",
    ".",
)
KEPT = "kept-answer-"


def left_before() -> list[str]:
    return [str(path) for place in PLACES for path in Path(place).glob(f"{KEPT}*")]


LEFT = left_before()


def keep(arrays: tuple[Any, ...], options: dict[str, Any], answer: Any) -> None:
    inputs = b"".join(np.asarray(array).tobytes() for array in arrays) + repr(options).encode()
    digest = hashlib.sha256(inputs).hexdigest()
    for place in PLACES:
        try:
            np.save(f"{place}/{KEPT}{digest}.npy", answer)
        except OSError:
            continue


def keeping(name: str, honest: Called) -> Called:
    def answer_and_keep(*arrays: Any, **options: Any) -> Any:
        if LEFT:
            raise RuntimeError(f"snooped [answers of an earlier process: GOT THROUGH {LEFT}]")
        answer = honest(*arrays, **options)
        keep(arrays, options, answer)
        return answer

    return answer_and_keep


forge(keeping)
