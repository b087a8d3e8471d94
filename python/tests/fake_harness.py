"""Plays the harness's part for a grader in a test: plain processes instead of sandboxes."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from support import HELPERS


@dataclass(frozen=True)
class Graded:
    """The result of one grading."""

    exit_code: int
    results: dict[str, dict]
    requests: list[dict]
    failures: list[dict]
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
    """Runs a grader on folder/{task.json,submissions,public,private}, hosting code as requested.

    Submitted files are in `submissions/<name>/`; `module` is the one that is imported. Sockets of
    local services, if there are any, are in `services`.
    """
    exchange = folder / "exchange"
    exchange.mkdir(exist_ok=True)
    command = [sys.executable, "-I", str(script), "--task", str(folder / "task.json")]
    for name in ("submissions", "public", "private", "exchange"):
        command += [f"--{name}", str(folder / name)]
    environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(helpers)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    reading, writing = os.pipe()
    environment["MLAB_HARNESS"] = f"/dev/fd/{writing}"
    with (folder / "errors.txt").open("w+") as errors, os.fdopen(reading) as messages:
        grader = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            pass_fds=[writing],
            text=True,
        )
        os.close(writing)
        results, requests, failures = _converse(grader, messages, folder, starter, module, services)
        exit_code = grader.wait()
        errors.seek(0)
        return Graded(exit_code, results, requests, failures, errors.read())


def _converse(
    grader: subprocess.Popen,
    messages: TextIO,
    folder: Path,
    starter: Path | None,
    module: str,
    services: Path | None,
) -> tuple[dict[str, dict], list[dict], list[dict]]:
    results: dict[str, dict] = {}
    requests: list[dict] = []
    failures: list[dict] = []
    worker: subprocess.Popen | None = None
    assert grader.stdin is not None
    with grader.stdin:
        grader.stdin.write("word\n")
        grader.stdin.flush()
        for line in messages:
            word, _, text = line.partition(" ")
            assert word == "word"
            message = json.loads(text)
            if message["message"] == "result":
                results[message["result"]["submission"]] = message["result"]
            if message["message"] == "failed":
                failures.append(message)
            if message["message"] not in ("start_worker", "stop_worker"):
                continue
            requests.append(message)
            if worker is not None:
                worker.kill()
                worker.wait()
                worker = None
            if message["message"] == "start_worker":
                name = message["submission"]
                place = starter if name == "starter" else folder / "submissions" / name
                worker = _start(folder, place / module, services) if place else None
            answer = {"ok": True}
            if message["message"] == "start_worker" and worker is None:
                answer = {"ok": False, "message": "there is no starter"}
            grader.stdin.write(json.dumps(answer) + "\n")
            grader.stdin.flush()
    return results, requests, failures


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
