"""Runs the agent in a file, for the harness: `python -m mlagentbench_agent FILE`."""

from __future__ import annotations

import faulthandler
import importlib.util
import random
import sys
import traceback
from pathlib import Path
from typing import Any

from .definition import Definition, definitions
from .environment import Environment
from .wire import Wire

PROTOCOL = 1
# In seconds.
STACK_BEFORE = 1


def main() -> None:
    path = Path(sys.argv[1]).absolute()
    wire = Wire()
    definition: Definition | None = None
    while True:
        request = wire.read()
        try:
            if request["method"] == "initialize":
                definition = load(path)
                wire.answer(request, describe(definition, path.parent))
            elif request["method"] == "run" and definition is not None:
                environment = Environment(
                    wire, request["params"], needs_model=definition.needs_model
                )
                random.seed(environment.seed)
                show_stack_before(environment.budget.seconds_left)
                definition.run(environment)
                wire.answer(request, None)
            else:
                wire.fail(request, f"there is no {request['method']} now")
        except BaseException as error:  # Reports SystemExit, too.
            wire.fail(request, told(error, path.parent))


def show_stack_before(seconds_left: float) -> None:
    """Just before the time is up, prints where the agent is: it may be in an endless loop."""
    if seconds_left > STACK_BEFORE:
        faulthandler.dump_traceback_later(seconds_left - STACK_BEFORE, file=2)


def load(path: Path) -> Definition:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    if len(definitions) == 1:
        return definitions[0]
    found = ", ".join(definition.name for definition in definitions) or "none"
    raise ImportError(f"exactly one function must be marked with @agent(…), found: {found}")


def describe(definition: Definition, folder: Path) -> dict[str, Any]:
    options = {
        name: {"description": option.description, "default": option.default}
        for name, option in definition.options.items()
    }
    return {
        "protocol": PROTOCOL,
        "name": definition.name,
        "summary": definition.summary,
        **({} if definition.version is None else {"version": definition.version}),
        "needs": {"model": definition.needs_model, "reference": False},
        "options": options,
        "files": imported_from(folder),
    }


def imported_from(folder: Path) -> list[str]:
    """The loaded files of this folder, by their paths in it."""
    paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = [Path(path).absolute() for path in paths if path is not None]
    return sorted(
        {file.relative_to(folder).as_posix() for file in files if file.is_relative_to(folder)}
    )


def told(error: BaseException, folder: Path) -> str:
    """The exception, where it was raised, and the calls that led there, without those of this package.

    :param folder: of the agent; its files are named by their paths in it
    """
    here = str(Path(__file__).parent)
    frames = [
        # Without columns, it is shown without carets.
        traceback.FrameSummary(frame.filename, frame.lineno, frame.name, line=frame.line)
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(here) and "importlib" not in frame.filename
    ]
    own = [frame for frame in frames if is_inside(frame.filename, folder)]
    place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    # A syntax error names its own place.
    where = "" if isinstance(error, SyntaxError) else place
    text = str(error)
    first = f"{type(error).__name__}{': ' if text else ''}{text}{where}"
    calls = "".join(traceback.format_list(frames)).rstrip()
    lines = [first, *hints(error), *([calls] if calls else [])]
    return "\n".join(lines).replace(f"{folder}/", "")


def hints(error: BaseException) -> list[str]:
    if isinstance(error, ModuleNotFoundError):
        return [
            "An agent in Python sees only the standard library and the .py files of its own "
            "folder. With packages, run it as an outside program: docs/agents/command.md."
        ]
    if isinstance(error, FileNotFoundError):
        return [
            "An agent in Python sees only .py files of its own folder: put texts into a .py file, "
            "and import them. Files of the workspace are read with the action Read File."
        ]
    return []


def is_inside(name: str, folder: Path) -> bool:
    return Path(name).absolute().is_relative_to(folder)


if __name__ == "__main__":
    main()
