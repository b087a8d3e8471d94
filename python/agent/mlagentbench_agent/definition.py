"""How an agent is described."""

from __future__ import annotations

import inspect
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

    #: Shown by `mlab agents`.
    description: str
    #: Text, a number or a boolean.
    default: OptionValue


@dataclass(frozen=True)
class Definition:
    name: str
    summary: str
    run: Run
    needs_model: bool = False
    version: str | None = None
    options: Mapping[str, Option] = field(default_factory=dict)


#: In the order in which they were defined.
definitions: list[Definition] = []


def agent(
    *,
    name: str,
    summary: str,
    needs_model: bool = False,
    version: str | None = None,
    options: Mapping[str, Option] | None = None,
) -> Callable[[Run], Run]:
    """Make an agent of a function that is given an `Environment`.

    :param name: lower-case letters and digits joined by "-": runs are shown under it
    :param summary: one sentence
    :param needs_model: it calls `environment.ask`
    :param version: shown in reports that compare several versions, such as "1.2.0"; otherwise they
        show a hash of its source
    :param options: by name; `environment.options` has what was set, or else the default
    """

    def define(run: Run) -> Run:
        if isinstance(run, type):
            raise TypeError("a class can't be an agent: write @agent(…) above a function")
        if inspect.iscoroutinefunction(run) or inspect.isgeneratorfunction(run):
            raise TypeError("an agent must be an ordinary function: write def, not async def or yield")
        definitions.append(
            Definition(name, summary, run, needs_model, version, dict(options or {}))
        )
        return run

    return define
