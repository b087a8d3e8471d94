"""Would the grader accept this submission? A script; it knows public data only and gives no score.

    python -I check_submission.py --task task.json --submission FOLDER --public FOLDER

Prints one JSON object: {"valid": true or false, "problems": [{"code": …, "message": …}]}.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mlab_task.declaration import read_declaration
from mlab_task.submission import FormatCheck


def main() -> None:
    parser = argparse.ArgumentParser(description="Check the format of a submission.")
    parser.add_argument("--task", type=Path, required=True)
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument("--public", type=Path, required=True)
    arguments = parser.parse_args()

    check = FormatCheck(read_declaration(arguments.task), arguments.public)
    outcome = check.check(arguments.submission)
    problems = outcome if isinstance(outcome, list) else []
    print(
        json.dumps({"valid": not problems, "problems": [asdict(problem) for problem in problems]})
    )


if __name__ == "__main__":
    main()
