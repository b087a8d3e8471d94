"""How an agent is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .environment import Environment

OptionValue = str | int | float | bool
Run = Callable[["Environment"], None]


@dataclass(frozen=True)
class Option:
    """An option that `--agent-option name=value` sets; its default determines the type, too."""

    description: str
    default: OptionValue


@dataclass(frozen=True)
class Definition:
    name: str
    summary: str
    run: Run
    needs_model: bool = False
    options: Mapping[str, Option] = field(default_factory=dict)


#: In the order in which they were defined.
definitions: list[Definition] = []


def agent(
    *,
    name: str,
    summary: str,
    needs_model: bool = False,
    options: Mapping[str, Option] | None = None,
) -> Callable[[Run], Run]:
    """Make an agent of a function that is given an `Environment`.

    :param name: lower-case letters and digits joined by "-": runs are shown under it
    :param summary: one sentence
    :param needs_model: it calls `environment.ask`
    """

    def define(run: Run) -> Run:
        definitions.append(Definition(name, summary, run, needs_model, dict(options or {})))
        return run

    return define
