"""Tests of doubling.py: `PYTHONPATH=python/agent python3 -m unittest discover -s FOLDER`."""

import unittest

from doubling import run
from mlagentbench_agent.testing import FakeEnvironment, run_agent


def execute(source: str, files: dict[str, str]) -> str:
    """Stands for running the script: 4 epochs are best."""
    files["submission.csv"] = "id,y\n"
    epochs = int(source.removeprefix("EPOCHS = "))
    return f"accuracy: {1 - abs(4 - epochs) / 10}"


class Doubling(unittest.TestCase):
    def test_hands_in_the_best_number_of_epochs(self) -> None:
        fake = run_agent(run, FakeEnvironment({"train.py": "EPOCHS = 1"}, execute=execute))
        self.assertEqual(fake.files["train.py"], "EPOCHS = 4")
        self.assertEqual(fake.final_answer, "train.py with an accuracy of 1.0.")
        self.assertEqual(fake.taken[0], ("Read File", {"file_name": "train.py"}))

    def test_stops_after_as_many_rounds_as_it_is_told(self) -> None:
        fake = FakeEnvironment({"train.py": "EPOCHS = 1"}, execute=execute, options={"rounds": 1})
        self.assertEqual(run_agent(run, fake).files["train.py"], "EPOCHS = 2")
