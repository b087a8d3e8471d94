"""Test an agent without mlab: see docs/how-to/write-an-agent-in-python.md."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .definition import OptionValue, Run, definitions
from .environment import Environment
from .wire import RequestRefused

#: What a script prints, from its source and the files of the workspace, which it may change.
Execute = Callable[[str, dict[str, str]], str]


class Failed(Exception):
    """A script given as `execute` raises it, with what it printed: the step is "failed"."""


class FakeEnvironment(Environment):
    """An environment with a workspace in memory, whose models give scripted replies.

    It performs Read, Write, Append and Copy File, List Files, Execute Script and Final Answer.
    `answer` can perform others. Another one, or one without its arguments, is "invalid".

    :param files: the workspace at the start: texts by path
    :param execute: what a script prints
    :param replies: what models answer, in order: texts, or the fields of a `Reply`
    :param answer: what an action returns that this class does not perform: name, arguments, files
    """

    def __init__(
        self,
        files: Mapping[str, str],
        *,
        execute: Execute | None = None,
        replies: Iterable[str | Mapping[str, Any]] = (),
        answer: Callable[[str, Mapping[str, Any], dict[str, str]], str] | None = None,
        task: Mapping[str, Any] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        seed: int = 0,
        steps: int = 50,
    ) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []  #: The actions, with their arguments.
        self.asked: list[Mapping[str, Any]] = []  #: The requests to models.
        self.notes: list[Mapping[str, str]] = []
        self.final_answer: str | None = None
        self.given_up: tuple[str, str] | None = None
        self.selected = "main"  #: The branch that would be graded.
        self.workspaces = {"main": [dict(files)]}  #: By branch: the files after each step.
        self._execute = execute or (lambda source, files: "")
        self._replies = iter(replies)
        self._answer = answer
        self._steps = steps
        entry = {"entry": next((name for name in files if name.endswith(".py")), "train.py")}
        told = {"task": {"problem": "", **entry, **(task or {})}, "actions": []}
        told |= {"budget": self._budget(), "seed": seed, "options": dict(options or {})}
        super().__init__(self._Wire(self), told)

    @property
    def files(self) -> dict[str, str]:
        """The workspace of `main`."""
        return self.workspaces["main"][-1]

    @property
    def ended(self) -> bool:
        stopped = (self.final_answer, self.given_up) != (None, None)
        return stopped or len(self.taken) >= self._steps

    class _Wire:
        """Answers what `Environment` sends."""

        def __init__(self, fake: FakeEnvironment) -> None:
            self._fake = fake

        def ask(self, method: str, params: Mapping[str, Any]) -> Any:
            return getattr(self._fake, f"_do_{method}")(params)

        def ask_all(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
            return [self.ask(method, params) for method, params in asked]

        def tell(self, method: str, params: Mapping[str, Any]) -> None:
            match method:
                case "note":
                    self._fake.notes.append(params["entries"])
                case "select":
                    self._fake.selected = params["branch"]
                case "give_up":
                    self._fake.given_up = (params["reason"], params["message"])

    def _do_step(self, params: Mapping[str, Any]) -> dict[str, Any]:
        states = self.workspaces[params["branch"]]
        name, args = params["action"]["name"], params["action"]["args"]
        status, observation = "closed", "The run is over."
        if not self.ended:
            self.taken.append((name, args))
            states.append(dict(states[-1]))
            try:
                status, observation = "ok", self._perform(name, args, states[-1])
            except Failed as error:
                status, observation = "failed", str(error)
            except KeyError as error:
                status, observation = "invalid", f"{name} was not executed: {error} is missing"
        exit_code = {"ok": 0, "failed": 1}.get(status) if name == "Execute Script" else None
        return {
            **{"step": len(states) - 1, "status": status, "observation": observation},
            **{"exit_code": exit_code, "duration_ms": 0.0, "budget": self._budget()},
            "submission": {"present": False, "written_at_step": None, "stale": False},
            "ended": self.ended,
        }

    def _perform(self, name: str, args: Mapping[str, Any], files: dict[str, str]) -> str:
        def content(path: str) -> str:
            if path not in files:
                raise Failed(f"{path} does not exist.")
            return files[path]

        match name:
            case "Read File":
                return content(args["file_name"])
            case "Write File":
                files[args["file_name"]] = args["content"]
            case "Append File":
                files[args["file_name"]] = files.get(args["file_name"], "") + args["content"]
            case "Copy File":
                files[args["destination"]] = content(args["source"])
            case "List Files":
                return "\n".join(sorted(files))
            case "Execute Script":
                return self._execute(content(args["script_name"]), files)
            case "Final Answer":
                self.final_answer = args["final_answer"]
            case _ if self._answer is not None:
                return self._answer(name, args, files)
            case _:
                raise KeyError(f"answer for {name}")
        return "Done."

    def _do_fork(self, params: Mapping[str, Any]) -> dict[str, Any]:
        states, begun = self.workspaces[params["branch"]], f"b{len(self.workspaces)}"
        at = params.get("at", len(states) - 1)
        if not 0 <= at < len(states):
            raise RequestRefused(f"Branch {params['branch']} has no step {at}.")
        self.workspaces[begun] = [dict(state) for state in states[: at + 1]]
        return {"id": begun, "origin": {"branch": params["branch"], "step": at}}

    def _do_ask(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(params)
        reply = next(self._replies, None)
        if reply is None:
            raise AssertionError(f"The agent asked {len(self.asked)} times: no reply is left.")
        return {"kind": "answered", **({"text": reply} if isinstance(reply, str) else reply)}

    def _budget(self) -> dict[str, Any]:
        used = len(self.taken)
        budget = {"steps_used": used, "steps_left": self._steps - used, "seconds_used": 0.0}
        return {**budget, "seconds_left": 3600.0, "tokens_left": None, "money_left": None}


def run_agent(run: Run, environment: FakeEnvironment) -> FakeEnvironment:
    """Run an agent once, and return its environment, which has recorded what it did.

    As in a run, options that were not given have their defaults.
    """
    declared = [definition for definition in definitions if definition.run is run]
    environment._needs_model = any(definition.needs_model for definition in declared)
    for definition in declared:
        defaults = {name: option.default for name, option in definition.options.items()}
        environment.options = {**defaults, **environment.options}
    random.seed(environment.seed)
    run(environment)
    return environment
