"""The task ogbn-arxiv: what prepare.py shows and hides, and scores by node."""

import gzip
import json
import os
import subprocess
import sys
import unittest

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

HIDDEN = TASKS / "ogbn-arxiv" / "hidden"
DECLARED = {
    "format": "csv",
    "path": "submission.csv",
    "id": {"column": "node", "from": "test.csv"},
    "columns": [{"name": "class", "type": "integer", "min": 0, "max": 171}],
}
LABELS = [0, 2, 1, 39, 1, 5]
GOOD = "node,class\n5,5\n2,1\n3,0\n"


@needs_numpy
class CitationGraph(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for folder in ("public", "private", "submissions"):
            (self.folder / folder).mkdir()
        self.pack("raw/node-feat", [f"{node},{node + 0.5}" for node in range(6)])
        self.pack("raw/node-label", LABELS)
        self.pack("raw/node_year", [2015, 2016, 2019, 2020, 2018, 2019])
        self.pack("raw/edge", ["2,0", "3,1", "3,2", "5,4"])
        for name, nodes in {"train": [0, 1], "valid": [4], "test": [5, 2, 3]}.items():
            self.pack(f"split/time/{name}", nodes)
        self.write("task.json", json.dumps({"metric": {}, "submission": {"files": [DECLARED]}}))

    def pack(self, name: str, lines: list[object]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        self.write(f"downloads/arxiv/arxiv/{name}.csv.gz", gzip.compress(text.encode()))

    def prepare(self) -> subprocess.CompletedProcess:
        command = [sys.executable, "-I", "-B", str(HIDDEN / "prepare.py")]
        for name in ("downloads", "public", "private"):
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def grade(self, **submissions: str) -> dict[str, dict]:
        for name, content in submissions.items():
            self.write(f"submissions/{name}/submission.csv", content)
        return run_grader(HIDDEN / "grade.py", self.folder).results

    def test_classes_of_the_test_part_are_nowhere_in_public(self) -> None:
        import numpy as np

        self.assertEqual(self.prepare().returncode, 0)
        public = self.folder / "public"
        found = {file.stem: np.load(file) for file in public.glob("*.npy")}
        self.assertEqual(found["labels"].tolist(), [0, 2, -1, -1, 1, -1])
        self.assertEqual(found["edges"].tolist(), [[2, 0], [3, 1], [3, 2], [5, 4]])
        self.assertEqual(found["features"].dtype, np.float32)
        self.assertEqual(found["features"][3].tolist(), [3, 3.5])
        self.assertEqual(found["years"].tolist(), [2015, 2016, 2019, 2020, 2018, 2019])
        self.assertEqual((found["train"].tolist(), found["valid"].tolist()), ([0, 1], [4]))
        names = {"edges", "features", "labels", "test", "train", "valid", "years"}
        self.assertEqual({file.stem for file in public.iterdir()}, names)
        self.assertEqual((public / "test.csv").read_text().split(), ["node", "5", "2", "3"])

    def test_parts_that_overlap_and_nodes_beyond_the_graph_are_refused(self) -> None:
        self.pack("split/time/valid", [4, 0])
        self.assertIn("overlap", self.prepare().stderr)
        self.pack("split/time/valid", [4])
        self.pack("raw/edge", ["2,6"])
        self.assertIn("edges: a node is not among the 6", self.prepare().stderr)

    def test_accuracy_is_computed_by_node(self) -> None:
        self.assertEqual(self.prepare().returncode, 0)
        results = self.grade(good=GOOD, other="class,node\n0,3\n5,5\n1,2\n")
        scores = {name: result["score"] for name, result in results.items()}
        self.assertEqual(scores, {"good": 2 / 3, "other": 2 / 3})

    def test_other_tables_are_invalid(self) -> None:
        self.assertEqual(self.prepare().returncode, 0)
        results = self.grade(
            twice=GOOD + "5,5\n",
            foreign=GOOD + "0,0\n",
            short="node,class\n5,5\n",
            negative=GOOD.replace("5,5", "5,-1"),
            beyond=GOOD.replace("5,5", "5,172"),
            fraction=GOOD.replace("5,5", "5,4.5"),
            nan=GOOD.replace("5,5", "5,nan"),
            empty=" ",
        )
        self.assertEqual([name for name, result in results.items() if result["valid"]], [])
        self.assertEqual(len(results), 8)


if __name__ == "__main__":
    unittest.main()
