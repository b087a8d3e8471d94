"""Looks for the grader, its answer, its seed and its files from inside the judged process.

An exception reports what it finds, the only thing of it that a person can read.
"""

import os
from pathlib import Path
from typing import Any

from shared import forge

SECRET_PLACES = {
    "labels": "/private",
    "grader": "/task/hidden/grade.py",
    "other submissions": "/submissions",
}


def tried(what: str, path: str, flags: int = os.O_RDONLY) -> str:
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        return f"{what}: {error.strerror}"
    return f"{what}: GOT THROUGH"


def snoop(*_: Any, **__: Any) -> None:
    own = {str(os.getpid()), str(os.getppid()), "1"}
    others = [p.name for p in Path("/proc").glob("[0-9]*") if p.name not in own]
    found = [tried(f"memory of {other}", f"/proc/{other}/mem", os.O_RDWR) for other in others]
    found += [tried(f"variables of {other}", f"/proc/{other}/environ") for other in others]
    found += [f"{len(others)} processes that are not the host of this code"]
    found += [tried("memory of process 1", "/proc/1/mem", os.O_RDWR)]
    found += [tried(name, path) for name, path in SECRET_PLACES.items()]
    found += [tried("planting in the exchange", "/exchange/planted", os.O_CREAT | os.O_WRONLY)]
    found += [tried("changing the helpers", "/mlab/submission_worker.py", os.O_WRONLY)]
    found += [tried("changing the code", __file__, os.O_WRONLY)]
    found += [tried("adding data", "/workspace/data/planted", os.O_CREAT | os.O_WRONLY)]
    raise RuntimeError(f"snooped [{'; '.join(found)}]")


forge(lambda name, honest: snoop)
