"""Prints the result of the action Validate Submission: `mlab-check` runs it.

It never gives a score. Exit code: 0 if the grader would accept the submission, 1 if it would not.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mlab_task.declaration import read_declaration
from mlab_task.submission import FormatCheck


def main() -> int:
    workspace = Path(os.environ["MLAB_WORKSPACE"])
    check = FormatCheck(read_declaration(Path(os.environ["MLAB_TASK"])), workspace / "data")
    outcome = check.check(workspace)
    problems = outcome if isinstance(outcome, list) else []
    if not problems:
        print("The grader would accept this submission.")
        return 0
    print("The grader would not accept this submission:")
    for problem in problems:
        print(f"- {problem.message} ({problem.code})")
    return 1


if __name__ == "__main__":
    sys.exit(main())
