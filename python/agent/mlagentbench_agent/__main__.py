"""Runs the agent in a file, for the harness: `python -m mlagentbench_agent FILE`."""

from __future__ import annotations

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
                definition.run(environment)
                wire.answer(request, None)
            else:
                wire.fail(request, f"there is no {request['method']} now")
        except BaseException as error:  # Reports SystemExit, too.
            wire.fail(request, told(error, path.parent))


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
    """As Python formats it, without the lines of this package, and with what helps.

    :param folder: of the agent; its files are named by their paths in it
    """
    here = str(Path(__file__).parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(here)
    ]
    frames = [frame for frame in frames if "importlib" not in frame.filename]
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    shown = "".join(lines).rstrip().replace(f"{folder}/", "")
    return "\n".join([shown, *hints(error, folder)])


def hints(error: BaseException, folder: Path) -> list[str]:
    if isinstance(error, ModuleNotFoundError):
        return [
            "An agent in Python sees only the standard library and the .py files of its own "
            "folder. With packages, run it as an outside program: docs/agents/command.md."
        ]
    if isinstance(error, FileNotFoundError) and is_inside(error.filename, folder):
        return [
            "Of its own folder, an agent in Python sees only .py files: put texts into a .py file, "
            "and import them."
        ]
    return []


def is_inside(name: object, folder: Path) -> bool:
    return isinstance(name, str) and Path(name).absolute().is_relative_to(folder)


if __name__ == "__main__":
    main()
