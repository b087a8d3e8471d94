"""Says what the action Validate Submission says of the submission: what `mlab-check` runs.

It never gives a score. Exit code: 0 where the grader would accept it, 1 where it would not.
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
