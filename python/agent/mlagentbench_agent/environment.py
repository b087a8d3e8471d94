"""What an agent can do and know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .definition import OptionValue
from .wire import SomeWire


class ModelNotDeclared(Exception):
    """`environment.ask` was called by an agent without `needs_model=True`."""


class Message(TypedDict, total=False):
    """One message of a conversation. `stable`: it and all messages before it recur in later
    requests.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    stable: bool
    tool_calls: list[dict[str, Any]]
    provider: Any
    call_id: str
    name: str


class Tool(TypedDict):
    """A tool that a model may call; `input_schema` is a JSON schema of an object."""

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True)
class Budget:
    """What is left and used. Tokens and money (US dollars) are None if they are not limited."""

    #: Actions; each costs one, whatever its status.
    steps_left: int
    seconds_left: float
    steps_used: int
    seconds_used: float
    tokens_left: float | None
    money_left: float | None


@dataclass(frozen=True)
class Submission:
    """Whether the files of the submission exist, which step wrote them, and whether they are stale.
    """

    present: bool
    written_at_step: int | None
    stale: bool


@dataclass(frozen=True)
class StepResult:
    """The result of an action; docs/reference/actions.md lists what each status means."""

    #: Its number, from 1.
    step: int
    #: "ok", "failed", "invalid", "refused", "timed_out", …
    status: str
    #: What the action says, such as the output of a script.
    observation: str
    #: Of the script or command; None if the action ran none, or a signal ended it.
    exit_code: int | None
    duration_ms: float
    #: What is left after this step.
    budget: Budget
    submission: Submission
    #: The run is over: every further action gets this answer.
    ended: bool


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    input: Any


@dataclass(frozen=True)
class Reply:
    """A model's answer: `kind` is "answered", "refused", "context_too_long" or "closed".

    An answer has `text`, `tool_calls`, `finish` and `provider`, all others have `message`.
    """

    kind: Literal["answered", "refused", "context_too_long", "closed"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    #: "length": it was cut off, so its end is incomplete.
    finish: str = ""
    provider: Any = None
    message: str = ""

    def as_message(self) -> Message:
        """The answer as a message of the next request, with everything that the provider needs
        back.
        """
        message: Message = {"role": "assistant", "text": self.text}
        if self.tool_calls:
            calls = [
                {"id": call.id, "name": call.name, "input": call.input} for call in self.tool_calls
            ]
            message["tool_calls"] = calls
        if self.provider is not None:
            message["provider"] = self.provider
        return message


class Branch:
    """One branch of the run's workspace."""

    def __init__(self, wire: SomeWire, id: str, origin: Mapping[str, Any] | None) -> None:
        self._wire = wire
        self.id = id
        #: The branch and the step that it was forked from; None for `main`.
        self.origin = origin

    def step(self, name: str, /, **args: Any) -> StepResult:
        """Take one step: `step("Execute Script", script_name="train.py")`.

        Never raises for a wrong action or argument, or a script that fails: see `status`.

        :param name: of an action; docs/reference/actions.md lists them
        :param args: its arguments
        """
        return _step_result(self._wire.ask("step", self._step(name, args)))

    def fork(self, at: int | None = None) -> Branch:
        """Begin a branch with the workspace after a step.

        :param at: the number of the step, 0 for the start; the last step by default
        :raises RequestRefused: this branch has no such step
        """
        begun = self._wire.ask("fork", {"branch": self.id} | ({} if at is None else {"at": at}))
        return Branch(self._wire, begun["id"], begun["origin"])

    def _step(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        return {"branch": self.id, "action": {"name": name, "args": dict(args)}}


class Environment(Branch):
    """The run; it is also the branch `main`: its workspace is graded unless you select another."""

    def __init__(
        self, wire: SomeWire, told: Mapping[str, Any], *, needs_model: bool = True
    ) -> None:
        super().__init__(wire, "main", None)
        self._needs_model = needs_model
        #: The task as agents see it: `problem`, `entry`, `metric`, `submission` …
        self.task: Mapping[str, Any] = told["task"]
        #: The actions: `name`, `description`, `arguments`, `input_schema`.
        self.actions: Sequence[Mapping[str, Any]] = told["actions"]
        #: The whole budget, before the first step.
        self.budget = Budget(**told["budget"])
        self.seed: int = told["seed"]
        self.options: Mapping[str, OptionValue] = told["options"]

    def step_all(self, steps: Sequence[tuple[Branch, str, Mapping[str, Any]]]) -> list[StepResult]:
        """Take steps of several branches at once, and wait for all of them.

        :param steps: branch, name of the action and its arguments:
            `[(branch, "Execute Script", {"script_name": "train.py"}), …]`
        :return: the results, in the same order
        """
        asked = [("step", branch._step(name, args)) for branch, name, args in steps]
        return [_step_result(result) for result in self._wire.ask_all(asked)]

    def ask(
        self,
        messages: Sequence[Message],
        *,
        role: Literal["agent", "editor", "fast"] = "agent",
        purpose: str = "act",
        tools: Sequence[Tool] | None = None,
        stop: Sequence[str] | None = None,
    ) -> Reply:
        """Ask a language model of the run. The agent needs `needs_model=True` in `@agent(…)`.

        :param role: which of the run's models: `editor` and `fast` are `agent` by default
        :param purpose: what it is for, in a few words, for people who read the trace
        :param tools: the tools that the model may call
        :param stop: the reply ends before any of these texts
        :raises ModelNotDeclared: without `needs_model=True`
        """
        if not self._needs_model:
            raise ModelNotDeclared(
                "The agent calls environment.ask, but does not declare that it needs a model: "
                "set needs_model=True in @agent(…)"
            )
        request: dict[str, Any] = {"role": role, "purpose": purpose, "messages": list(messages)}
        if tools is not None:
            request["tools"] = list(tools)
        if stop is not None:
            request["stop"] = list(stop)
        return _reply(self._wire.ask("ask", request))

    def note(self, entries: Mapping[str, str]) -> None:
        """Record your thoughts, for readers of the trace: `note({"Idea": "…"})`."""
        self._wire.tell("note", {"entries": dict(entries)})

    def select(self, branch: Branch) -> None:
        """Select the branch whose workspace is graded; `main` by default."""
        self._wire.tell("select", {"branch": branch.id})

    def give_up(
        self, reason: Literal["context_limit", "reply_format", "refused"], message: str
    ) -> None:
        """End the run as the agent's own failure.

        :param reason: "context_limit": the dialogue is too long for the model; "reply_format":
            the model's replies can't be used; "refused": the model declined
        :param message: what happened, for people
        """
        self._wire.tell("give_up", {"reason": reason, "message": message})


def _step_result(fields: Mapping[str, Any]) -> StepResult:
    budget, submission = Budget(**fields["budget"]), Submission(**fields["submission"])
    return StepResult(**{**fields, "budget": budget, "submission": submission})


def _reply(fields: Mapping[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in fields.get("tool_calls", ()))
    return Reply(**{**fields, "tool_calls": calls})
