"""The fake environment for tests of agents in Python."""

import sys
import unittest

from support import HELPERS

sys.path.insert(0, str(HELPERS / "agent"))

from mlagentbench_agent import Environment, ModelNotDeclared, Option, RequestRefused, agent
from mlagentbench_agent.testing import Failed, FakeEnvironment, run_agent


@agent(name="asking", summary="Writes what a model says.", needs_model=True)
def asking(environment: Environment) -> None:
    while True:
        reply = environment.ask([{"role": "user", "text": "Next?"}])
        if reply.kind != "answered":
            return environment.give_up("refused", reply.message)
        environment.note({"Said": reply.text})
        environment.step("Append File", file_name="log.txt", content=reply.text)


@agent(name="undeclared", summary="Asks without declaring it.")
def undeclared(environment: Environment) -> None:
    environment.ask([{"role": "user", "text": "Next?"}])


@agent(name="turning", summary="Notes its options.", options={"turns": Option("how many", 3)})
def turning(environment: Environment) -> None:
    environment.note({"Turns": str(environment.options["turns"])})


class Fake(unittest.TestCase):
    def test_options_that_are_not_given_have_their_defaults(self) -> None:
        for given, turns in (({}, "3"), ({"turns": 5}, "5")):
            fake = run_agent(turning, FakeEnvironment({}, options=given))
            self.assertEqual(fake.notes, [{"Turns": turns}])

    def test_models_give_the_scripted_replies_in_order(self) -> None:
        replies = ["a", "b", {"kind": "refused", "message": "no"}]
        fake = run_agent(asking, FakeEnvironment({}, replies=replies))
        self.assertEqual(fake.files, {"log.txt": "ab"})
        self.assertEqual(fake.given_up, ("refused", "no"))
        self.assertEqual(fake.notes, [{"Said": "a"}, {"Said": "b"}])
        self.assertEqual(fake.asked[0]["messages"], [{"role": "user", "text": "Next?"}])

    def test_an_agent_that_asks_too_often_or_without_declaring_a_model_fails(self) -> None:
        with self.assertRaisesRegex(AssertionError, "asked 2 times"):
            run_agent(asking, FakeEnvironment({}, replies=["a"]))
        with self.assertRaisesRegex(ModelNotDeclared, "needs_model=True"):
            run_agent(undeclared, FakeEnvironment({}, replies=["a"]))

    def test_branches_have_their_own_files(self) -> None:
        fake = FakeEnvironment({"a.txt": "0"})
        fake.step("Write File", file_name="a.txt", content="1")
        early, late = fake.fork(at=0), fake.fork()
        results = fake.step_all(
            [(branch, "Read File", {"file_name": "a.txt"}) for branch in (early, late)]
        )
        self.assertEqual([result.observation for result in results], ["0", "1"])
        early.step("Write File", file_name="b.txt", content="")
        self.assertEqual(fake.files, {"a.txt": "1"})
        with self.assertRaises(RequestRefused):
            fake.fork(at=7)
        fake.select(late)
        self.assertEqual(fake.selected, "b2")

    def test_statuses_are_those_of_a_run(self) -> None:
        def execute(source: str, files: dict[str, str]) -> str:
            raise Failed("Traceback")

        fake = FakeEnvironment({"train.py": ""}, execute=execute, steps=6)
        failed = fake.step("Execute Script", script_name="train.py")
        self.assertEqual((failed.status, failed.exit_code), ("failed", 1))
        self.assertEqual(failed.observation, "Traceback")
        self.assertEqual(fake.step("Read File", file_name="no.txt").status, "failed")
        self.assertEqual(fake.step("Read File", filename="train.py").status, "invalid")
        self.assertEqual(fake.step("Fly").status, "invalid")
        last = fake.step("Final Answer", final_answer="done")
        self.assertEqual((last.ended, last.step, last.budget.steps_left), (True, 5, 1))
        self.assertEqual(fake.step("List Files", dir_path=".").status, "closed")


if __name__ == "__main__":
    unittest.main()
