"""Runs a script once and keeps what its functions were called with and what they gave back."""

import ast
import contextlib
import copy
import importlib.abc
import importlib.machinery
import io
import os
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from automl.offers import ENTRY

KEPT_CALLS = (1, 2, 20, 500)
"""Which calls of a function are kept, counted from 1."""
MOST_BYTES = 2**24
"""Larger files are linked, not copied, beside the script that is tried."""

Function = ast.FunctionDef


@dataclass
class Call:
    """What a function was given; its result, what it was given afterwards, and what it printed."""

    given: tuple[Any, ...]
    named: dict[str, Any]
    outcome: Any = None
    printed: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Unit:
    """A function of the script, as it was seen at work."""

    path: str
    name: str
    node: Function
    owner: str
    seconds: float = 0.0
    calls: int = 0
    kept: list["Call"] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    """Names and values at the end of a call."""
    globals: dict[str, Any] = field(default_factory=dict)


def units_of(path: str, tree: ast.Module) -> list[Unit]:
    """Top-level functions, and methods of top-level classes."""
    found = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        for each in members:
            if isinstance(each, Function):
                found.append(Unit(path, each.name, each, owner))
    return found


class Recorder:
    """Wraps functions; what it is asked by name in the changed script is `__speed__`."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.inner = [0.0]
        """Seconds in functions that were called by those at work."""
        self.printed = io.StringIO()

    def wrap(self, number: int) -> Any:
        unit = self.units[number]

        def decorate(function: Any) -> Any:
            def recorded(*given: Any, **named: Any) -> Any:
                unit.calls += 1
                call = None
                if unit.calls in KEPT_CALLS:
                    # Whatever cannot be copied cannot be tried.
                    with contextlib.suppress(Exception):
                        call = Call(*copy.deepcopy((given, named)))
                at = self.printed.tell()
                self.inner.append(0.0)
                start = perf_counter()
                try:
                    result = function(*given, **named)
                finally:
                    seconds = perf_counter() - start
                    unit.seconds += max(0.0, seconds - self.inner.pop())
                    if self.inner:
                        self.inner[-1] += seconds
                if call is not None:
                    with contextlib.suppress(Exception):
                        call.outcome = copy.deepcopy((result, given, named))
                        call.printed = self.printed.getvalue()[at:].split("\n")
                        call.seconds = seconds
                        unit.kept.append(call)
                return result

            unit.globals = function.__globals__
            recorded.__name__ = function.__name__
            recorded.__doc__ = function.__doc__
            return recorded

        return decorate

    def see(self, number: int, names: dict[str, Any]) -> None:
        self.units[number].seen = {**self.units[number].seen, **names}

    def changed(self, path: str, source: str) -> Any:
        tree = ast.parse(source)
        for unit in units_of(path, copy.deepcopy(tree)):
            self.units.append(unit)
        numbers = {
            (unit.owner, unit.node.lineno): place
            for place, unit in enumerate(self.units)
            if unit.path == path
        }
        for unit in units_of(path, tree):
            number = numbers[unit.owner, unit.node.lineno]
            unit.node.decorator_list.append(ast.parse(f"__speed__.wrap({number})").body[0].value)
            is_generator = any(
                isinstance(x, ast.Yield | ast.YieldFrom) for x in ast.walk(unit.node)
            )
            if not is_generator:
                ending = ast.parse(f"__speed__.see({number}, dict(locals()))").body
                unit.node.body = [ast.Try(unit.node.body, [], [], ending)]
        return compile(ast.fix_missing_locations(tree), path, "exec")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the script's own files as the recorder changed them."""

    def __init__(self, recorder: Recorder, files: dict[str, str]) -> None:
        self.recorder, self.files = recorder, files

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        here = f"{name}.py" in self.files
        return importlib.machinery.ModuleSpec(name, self) if here else None

    def exec_module(self, module: types.ModuleType) -> None:
        path = f"{module.__name__}.py"
        module.__dict__.update(__speed__=self.recorder, __file__=str(Path(path).absolute()))
        exec(self.recorder.changed(path, self.files[path]), module.__dict__)


class EnoughError(BaseException):
    """The script has run long enough."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise EnoughError

    before = signal.signal(signal.SIGALRM, stop)
    left = signal.alarm(0)
    start = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, max(0.01, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.alarm(max(1, int(left - (perf_counter() - start))))


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """In a copy of the folder, so that what the script writes is written there."""
    here = Path.cwd()
    copied = Path(tempfile.mkdtemp())
    try:
        for each in here.iterdir():
            if each.is_dir() or each.stat().st_size > MOST_BYTES:
                (copied / each.name).symlink_to(each)
            else:
                shutil.copy2(each, copied / each.name)
        os.chdir(copied)
        yield
    finally:
        os.chdir(here)
        shutil.rmtree(copied, ignore_errors=True)


def record(files: dict[str, str], seconds: float) -> tuple[list[Unit], float]:
    """The units, those that took longest first, and how long the script ran."""
    recorder = Recorder()
    sys.dont_write_bytecode = True
    sys.argv = [ENTRY]
    sys.path.insert(0, str(Path.cwd()))
    modules = {path: text for path, text in files.items() if path != ENTRY and path.endswith(".py")}
    sys.meta_path.insert(0, Finder(recorder, modules))
    module = types.ModuleType("__main__")
    module.__dict__.update(__speed__=recorder, __file__=str(Path(ENTRY).absolute()))
    sys.modules["__main__"] = module
    start = perf_counter()
    code = recorder.changed(ENTRY, files[ENTRY])
    with contextlib.redirect_stdout(recorder.printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            with within(seconds):
                exec(code, module.__dict__)
        except (Exception, SystemExit, EnoughError) as problem:
            # What was seen until then is what there is.
            if os.environ.get("SPEED_DEBUG"):
                sys.__stderr__.write(f"  ran into {type(problem).__name__}: {problem}\n")
    units = [unit for unit in recorder.units if unit.kept]
    return sorted(units, key=lambda unit: -unit.seconds), perf_counter() - start
