"""Tables of runs as pandas data frames. mlab computes every number in them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import StoreError

if TYPE_CHECKING:
    import pandas

# The exit code of an export that left out some runs, which it names.
SOME_LEFT_OUT = 1


def runs(folder: str | os.PathLike[str], run: str | None = None) -> pandas.DataFrame:
    """A row for each run, including those that have not begun, with its result and usage."""
    return _table("runs", folder, run)


def steps(folder: str | os.PathLike[str], run: str | None = None) -> pandas.DataFrame:
    """A row for each finished step of each branch; `in_history`: it is part of the graded branch.
    """
    return _table("steps", folder, run)


def grades(folder: str | os.PathLike[str], run: str | None = None) -> pandas.DataFrame:
    """A row for each graded workspace, with its newest grade; `final`: the result of the run."""
    return _table("grades", folder, run)


def calls(folder: str | os.PathLike[str], run: str | None = None) -> pandas.DataFrame:
    """A row for each model call: tokens, cost in US dollars, times."""
    return _table("calls", folder, run)


def restore(
    experiment: str | os.PathLike[str], run: str, step: int, target: str | os.PathLike[str]
) -> None:
    """Writes the workspace after a step to a new or empty folder.

    An agent wrote these files: do not run them outside a sandbox.
    """
    place, names = _chosen(Path(experiment), run)
    where = str(Path(target).resolve())
    _mlab(place, "runs", "restore", "--", *names, str(step), where)


def _table(name: str, folder: str | os.PathLike[str], run: str | None) -> pandas.DataFrame:
    """
    folder: an experiment, such as experiments/start-1, or a folder of experiments for all of them
    run: only this one, of an experiment
    Raises StoreError if there is no such experiment or run, or if mlab is missing or fails.
    """
    import pandas

    place, names = _chosen(Path(folder), run)
    with tempfile.TemporaryDirectory(prefix="mlagentbench-") as scratch:
        out = Path(scratch, "tables")
        flags = ["--to", "parquet", "--tables", name, "--out", str(out)]
        answer = _mlab(place, "runs", "export", *flags, "--", *names)
        if unreadable := answer.get("unreadable"):
            left_out = ", ".join(unreadable)
            warnings.warn(f"Left out, as they can't be read: {left_out}", stacklevel=3)
        return pandas.read_parquet(out / f"{name}.parquet", dtype_backend="numpy_nullable")


def _chosen(folder: Path, run: str | None) -> tuple[Path, list[str]]:
    """The folder of experiments, and names of experiments or runs in it."""
    folder = folder.resolve()
    if (folder / "plan.json").is_file():
        return folder.parent, [folder.name if run is None else f"{folder.name}/{run}"]
    if not folder.is_dir():
        raise StoreError(f"There is no folder {folder}.")
    names = sorted(entry.parent.name for entry in folder.glob("*/plan.json"))
    if not names:
        raise StoreError(
            f"{folder} is not an experiment and contains none: there is no plan.json.",
            "Give a folder that mlab run wrote, such as experiments/start-1.",
        )
    if run is not None:
        raise StoreError(
            f"{folder} contains several experiments.", f"Name the one that has the run {run}."
        )
    return folder, names


def _mlab(place: Path, *words: str) -> dict[str, Any]:
    """The JSON that a command prints."""
    command = [*_command(), "--json", "--dir", str(place), *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and isinstance(error := answer.get("error"), dict):
        raise StoreError(str(error.get("message")), str(error.get("hint", "")))
    if not isinstance(answer, dict) or done.returncode not in (0, SOME_LEFT_OUT):
        said = done.stderr.decode("utf-8", "replace")[-2000:].strip()
        raise StoreError(f"{shlex.join(command)} ended with code {done.returncode}: {said}")
    return answer


def _command() -> list[str]:
    if given := shlex.split(os.environ.get("MLAB", "")):
        return given
    found = shutil.which("mlab")
    if found is None:
        raise StoreError(
            "The command mlab, which computes the tables, is not on the PATH.",
            'In a checkout of mlagentbench, set how it is started: MLAB="npx mlab"',
        )
    return [found]
