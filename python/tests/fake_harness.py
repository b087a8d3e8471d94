"""Plays the harness's part for a grader in a test: plain processes instead of sandboxes."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support import HELPERS


@dataclass(frozen=True)
class Graded:
    """What came of one grading."""

    exit_code: int
    results: dict[str, dict]
    requests: list[dict]
    errors: str


def run_grader(
    script: Path,
    folder: Path,
    *,
    starter: Path | None = None,
    helpers: Path = HELPERS,
    module: str = "train.py",
    services: Path | None = None,
) -> Graded:
    """Runs a grader on folder/{task.json,submissions,public,private}, hosting submitted code as asked.

    Submitted files lie in `submissions/<name>/`, `module` being the one that is imported. Sockets
    of local services, where there are any, lie in `services`.
    """
    exchange = folder / "exchange"
    exchange.mkdir(exist_ok=True)
    command = [sys.executable, "-I", str(script), "--task", str(folder / "task.json")]
    for name in ("submissions", "public", "private", "exchange"):
        command += [f"--{name}", str(folder / name)]
    environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(helpers)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    with (folder / "errors.txt").open("w+") as errors:
        grader = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            text=True,
        )
        last, requests = _converse(grader, folder, starter, module, services)
        exit_code = grader.wait()
        errors.seek(0)
        results = {result["submission"]: result for result in last.get("results", [])}
        return Graded(exit_code, results, requests, errors.read())


def _converse(
    grader: subprocess.Popen,
    folder: Path,
    starter: Path | None,
    module: str,
    services: Path | None,
) -> tuple[dict, list[dict]]:
    last: dict = {}
    requests: list[dict] = []
    worker: subprocess.Popen | None = None
    assert grader.stdin is not None and grader.stdout is not None
    with grader.stdin, grader.stdout:
        for line in grader.stdout:
            last = json.loads(line)
            if "request" not in last:
                continue
            requests.append(last)
            if worker is not None:
                worker.kill()
                worker.wait()
                worker = None
            if last["request"] == "start_worker":
                name = last["submission"]
                place = starter if name == "starter" else folder / "submissions" / name
                worker = _start(folder, place / module, services) if place else None
            answer = {"ok": True}
            if last["request"] == "start_worker" and worker is None:
                answer = {"ok": False, "message": "there is no starter"}
            grader.stdin.write(json.dumps(answer) + "\n")
            grader.stdin.flush()
    return last, requests


def _start(folder: Path, module: Path, services: Path | None) -> subprocess.Popen:
    environment = dict(os.environ)
    if services is not None:
        environment["MLAB_SERVICES"] = str(services)
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-B", str(HELPERS / "submission_worker.py")),
            *("--socket", str(folder / "exchange" / "grader.sock")),
            *("--module", str(module)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
