"""Runs a task's score function on every submission and reports each result to the harness.

A task's `hidden/grade.py` loads its labels once, defines `score(submission)`, and calls `grade`.
"""

import argparse
import json
import math
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mlab_task.declaration import read_declaration
from mlab_task.harness import HarnessError, connect_harness
from mlab_task.problems import LONGEST_LINES, Problem, Rejected, plain, plain_lines
from mlab_task.stand_in import with_stand_ins
from mlab_task.submission import FormatCheck, Submission
from mlab_task.submission_workers import STARTER
from mlab_task.tables import column_places, read_rows

TOO_LARGE = Problem("out_of_range", "the score is too large: submitted numbers are")
# Beyond it, ratios of scores and their squares overflow in reports.
LARGEST_SCORE = 1e100


@dataclass(frozen=True)
class Arguments:
    """The paths that the harness passes to a grader."""

    task: Path
    submissions: Path
    public: Path
    private: Path
    exchange: Path | None


@dataclass(frozen=True)
class Score:
    """A score with more to say than its value."""

    value: float
    baseline: float | None = None
    details: dict[str, Any] = field(default_factory=dict)


def read_arguments() -> Arguments:
    """Parses the grader's command line; all paths become absolute."""
    parser = argparse.ArgumentParser(description="Grade submissions.")
    for name in ("task", "submissions", "public", "private"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--exchange", type=Path)
    parsed = parser.parse_args()
    return Arguments(**{k: None if v is None else v.resolve() for k, v in vars(parsed).items()})


def read_labels(file: Path, id_column: str, label_column: str) -> dict[str, str]:
    """A column of a CSV file by the ids of another."""
    with file.open("rb") as opened:
        rows = read_rows(opened)
        header = next(rows)[1]
        identifier, label = column_places(header, [id_column, label_column], file.name)
        return {row[identifier]: row[label] for _, row in rows}


def grade(score: Callable[[Submission], float | Score], arguments: Arguments) -> None:
    """Grades submissions one by one and reports each result to the harness at once.

    A score function raises `Rejected` for a submission that is invalid, and `HarnessError` to end
    the grader. Any other exception is a failure of the grader on this submission: the harness
    grades the starter to find out whether the submission is to blame.
    """
    harness = connect_harness()
    declaration = read_declaration(arguments.task)
    check = FormatCheck(declaration, arguments.public)
    folders = sorted(entry for entry in arguments.submissions.iterdir() if entry.is_dir())
    for folder in folders:
        harness.tell("grading", submission=folder.name)
        try:
            if folder.name == STARTER and harness.is_there:
                with with_stand_ins(folder, declaration, arguments.public) as complete:
                    result = _grade_one(complete, check, score)
            else:
                result = _grade_one(folder, check, score)
        except HarnessError as error:
            sys.exit(plain(str(error), 3_000))
        except Exception as error:
            traceback.print_exc()
            harness.tell("failed", **_failure(error, score))
        else:
            harness.tell("result", result=result)


def _failure(error: Exception, score: Callable[[Submission], float | Score]) -> dict[str, str]:
    """The failure for the task's author; only its kind and place are free of hidden data."""
    kind = type(error).__name__
    here = Path(sys.argv[0]).resolve().parent
    places = [
        f"hidden/{Path(frame.filename).name}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve().parent == here
    ]
    code = getattr(score, "__code__", None)
    # What the function returned is wrong: the exception was raised after it.
    if not places and code is not None:
        places = [f"hidden/{Path(code.co_filename).name}, line {code.co_firstlineno}"]
    place = places[-1] if places else "hidden/grade.py"
    return {
        "kind": plain(kind, 100),
        "place": plain(place, 200),
        "error": plain(f"{kind}: {error}"),
        "traceback": plain_lines("".join(traceback.format_exception(error)), LONGEST_LINES),
    }


def _grade_one(
    folder: Path, check: FormatCheck, score: Callable[[Submission], float | Score]
) -> dict[str, Any]:
    try:
        outcome = check.check(folder)
        if isinstance(outcome, list):
            return _invalid(folder.name, outcome)
        found = score(outcome)
        result = found if isinstance(found, Score) else Score(found)
        _require_numbers(found, result)
        json.dumps(result.details, allow_nan=False)
    except Rejected as rejection:
        return _invalid(folder.name, [rejection.problem])
    except OverflowError:
        return _invalid(folder.name, [TOO_LARGE])
    if math.isnan(result.value):
        # A bug of the grader, or numbers of this submission whose sums overflow.
        raise ValueError("the score is not a number (NaN)")
    if not abs(result.value) <= LARGEST_SCORE:
        return _invalid(folder.name, [TOO_LARGE])
    graded = {
        "submission": folder.name,
        "valid": True,
        "score": float(result.value),
        "problems": [],
        "details": result.details,
    }
    return graded if result.baseline is None else {**graded, "baseline": float(result.baseline)}


def _require_numbers(found: object, result: Score) -> None:
    if not isinstance(found, Score) and not _is_number(found):
        message = f"score() returned {_named(found)}: return a number or a Score"
    elif not _is_number(result.value):
        message = f"score() returned a Score whose value is {_named(result.value)}"
        message += ": give it a number"
    elif result.baseline is not None and not _is_number(result.baseline):
        message = f"score() returned a Score whose baseline is {_named(result.baseline)}"
        message += ": give it a number or None"
    else:
        return
    raise TypeError(message)


def _is_number(value: object) -> bool:
    try:
        math.isnan(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _named(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _invalid(name: str, problems: list[Problem]) -> dict[str, Any]:
    return {
        "submission": name,
        "valid": False,
        "score": None,
        "problems": [asdict(problem) for problem in problems],
        "details": {},
    }
