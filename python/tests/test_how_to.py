"""The example of docs/how-to/write-a-task.md: prepared, run and graded exactly as printed."""

import json
import os
import random
import re
import subprocess
import sys
import unittest
from pathlib import Path

from fake_harness import run_grader
from support import HELPERS, FolderTest

PAGE = HELPERS.parent / "docs" / "how-to" / "write-a-task.md"
EXAMPLE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "id", "from": "test.csv"},
    "columns": [{"name": "y"}],
}


class HowTo(FolderTest):
    def run_python(self, script: str, *arguments: str, folder: str = ".") -> None:
        command = [sys.executable, str(self.folder / script), *arguments]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        subprocess.run(
            command, check=True, cwd=self.folder / folder, env=environment, capture_output=True
        )

    def submit(self, name: str, script: str) -> Path:
        workspace = self.folder / f"submissions/{name}"
        workspace.mkdir(parents=True)
        (workspace / "data").symlink_to(self.folder / "public")
        self.run_python(script, folder=f"submissions/{name}")
        return workspace / "submission.csv"

    def test_the_example_task_gives_the_scores_that_it_states(self) -> None:
        files = dict(EXAMPLE.findall(PAGE.read_text(encoding="utf-8")))
        for path, content in files.items():
            self.write(path, content)
        self.write("task.json", json.dumps({"metric": {}, "submission": {"files": [DECLARED]}}))
        for folder in ("downloads", "public", "private"):
            (self.folder / folder).mkdir()
        folders = [f"--{name}={self.folder / name}" for name in ("downloads", "public", "private")]
        self.run_python("hidden/prepare.py", *folders)
        self.submit("starter", "env/train.py")
        solution = self.submit("solution", "hidden/solution/train.py")
        header, *rows = solution.read_text().splitlines()
        shuffled = random.Random(5).sample(rows, k=len(rows))
        self.write("submissions/shuffled/submission.csv", "\n".join([header, *shuffled]))

        results = run_grader(self.folder / "hidden/grade.py", self.folder).results
        scores = {name: result["score"] for name, result in results.items()}
        stated = re.findall(r"^  mean: ([\d.]+)$", files["task.yaml"], re.MULTILINE)
        self.assertEqual(f"{scores['starter']:.4f}", stated[0])
        self.assertEqual(f"{scores['solution']:.4f}", stated[1])
        self.assertEqual(scores["shuffled"], scores["solution"])


if __name__ == "__main__":
    unittest.main()
