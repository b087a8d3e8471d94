"""Forges results: writes what the harness writes, prints what graders print, submits odd files.

python forger.py results      forged result files, in the workspace and where the harness keeps them
python forger.py NAME         writes one forged submission
"""

import csv
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attempts import Judged, Stopped, add, run_all, settings

SETTINGS = settings()
RESULT = {"submission": "submission", "valid": True, "score": SETTINGS["best"], "problems": []}
FORGED = {
    "grades.jsonl": json.dumps({"v": 1, "step": 1, "final": True, **RESULT}),
    "run.json": json.dumps({"v": 1, "status": "finished", "score": SETTINGS["best"]}),
    "trace.jsonl": json.dumps({"v": 1, "seq": 0, "kind": "run_ended", "score": SETTINGS["best"]}),
    "results.json": json.dumps({"results": [RESULT]}),
    "score.txt": f"score: {SETTINGS['best']}",
}


def write(path: Path, content: str) -> str:
    with path.open("a", encoding="utf-8") as file:
        file.write(content + "\n")
    return f"wrote {path}"


def write_here(name: str) -> None:
    Path(name).write_text(FORGED[name] + "\n")
    raise Judged("lies in the workspace, where nobody reads it as a result")


def print_results() -> None:
    for stream in (1, 2):
        os.write(
            stream, f"\n{json.dumps({'results': [RESULT]})}\nscore: {SETTINGS['best']}\n".encode()
        )
        os.write(stream, f"x {json.dumps({'message': 'result', 'result': RESULT})}\n".encode())
    raise Judged("printed it to both streams")


def print_a_request() -> None:
    os.write(1, b'\nx {"message": "start_worker", "submission": "../../hidden"}\n')
    raise Judged("printed it")


def set_variables() -> None:
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "LD_PRELOAD"):
        os.environ[name] = "/workspace/forged"
    raise Judged("set them in this process")


def set_variables_of_others() -> str:
    with open(f"/proc/{os.getppid()}/environ", "r+b", buffering=0) as file:
        file.write(b"PYTHONPATH=/workspace")
    return "wrote them"


def add_results() -> None:
    for name in FORGED:
        add(f"leave a forged {name}", f"/workspace/{name}", lambda n=name: write_here(n))
    for name in ("grades.jsonl", "run.json", "trace.jsonl"):
        place = Path(SETTINGS["run_folder"], name)
        add(f"write the real {name}", str(place), lambda p=place, n=name: write(p, FORGED[n]))
    add("write into the grader's sandbox", "/exchange", lambda: write(Path("/exchange/x"), "x"))
    add("write to the grader's pipe", "/harness", lambda: write(Path("/harness/output-0"), "x"))
    add("print a grader's results", "stdout and stderr", print_results)
    add("print a grader's request", "stdout", print_a_request)
    add("set variables for the grader", "PYTHONPATH, PYTHONHOME, LD_PRELOAD", set_variables)
    add("set variables of the parent", "/proc/<parent>/environ", set_variables_of_others)


def rows(value: str) -> list[list[str]]:
    """A submission with the same value everywhere."""
    declared: dict[str, Any] = SETTINGS["csv"]
    with open(f"data/{declared['from']}", newline="") as file:
        ids = [row[declared["id"]] for row in csv.DictReader(file)]
    header = [declared["id"], *declared["columns"]]
    return [header, *([identifier, *[value] * (len(header) - 1)] for identifier in ids)]


def csv_text(table: list[list[str]]) -> str:
    return "\n".join(",".join(row) for row in table) + "\n"


SUBMISSIONS: dict[str, tuple[str, Callable[[], str]]] = {
    "nan": ("NaN everywhere", lambda: csv_text(rows("nan"))),
    "inf": ("an infinity everywhere", lambda: csv_text(rows("inf"))),
    "minus-inf": ("a negative infinity everywhere", lambda: csv_text(rows("-inf"))),
    "overflow": ("1e999 everywhere", lambda: csv_text(rows("1e999"))),
    "largest": ("1e308 everywhere, whose square is no number", lambda: csv_text(rows("1e308"))),
    "empty": ("nothing in the cells", lambda: csv_text(rows(""))),
    "code": ("an expression in the cells", lambda: csv_text(rows("__import__('os')._exit(0)"))),
    "score": ("a score instead of a table", lambda: f"score: {SETTINGS['best']}\n"),
    "json": ("a grader's results instead of a table", lambda: FORGED["results.json"] + "\n"),
    "one-row": ("one row, to be judged by it alone", lambda: csv_text(rows("1")[:2])),
    "many-rows": ("every id twice", lambda: csv_text(rows("1") + rows("0")[1:])),
}


def submit(name: str) -> None:
    if SETTINGS["csv"] is None:
        raise Stopped("this task's submission is no table")
    Path(SETTINGS["submission"]).write_text(SUBMISSIONS[name][1]())
    raise Judged("written")


if __name__ == "__main__":
    if sys.argv[1] == "results":
        add_results()
    else:
        chosen = sys.argv[1]
        add(f"submit {SUBMISSIONS[chosen][0]}", SETTINGS["submission"], lambda: submit(chosen))
    run_all()
