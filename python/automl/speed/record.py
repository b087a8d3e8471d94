"""Runs a script once and keeps what its functions were called with and what they gave back."""

import ast
import builtins
import contextlib
import copy
import datetime
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
from automl.speed.trees import expression, lines

KEPT_CALLS = (1, 2, 20, 500)
"""Which calls of a function are kept, counted from 1."""
MOST_ANSWERS = 20_000
MOST_SEEN = KEPT_CALLS[-1]
"""Calls after which nothing new is learnt of a function's names."""
CALLS_TO_JUDGE = 2_000
"""Calls after which results are noted only if a tenth of the calls came again."""
PLAIN = (str, int, float, bool, bytes, type(None), datetime.date, datetime.timedelta)
"""Values that nobody can change."""
COLLECTIONS = (list, set, dict)
MOST_PARTS = 1_000
"""Results of more are not remembered."""
MOST_BYTES = 2**24
"""Larger files are linked, not copied, beside the script that is tried."""
DEBUG = os.environ.get("SPEED_DEBUG") == "1"

Function = ast.FunctionDef


@dataclass
class Call:
    """What a function was given; its result, what it was given afterwards, and what it printed."""

    given: tuple[Any, ...]
    named: dict[str, Any]
    outcome: Any = None
    printed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_made_up: bool = False


@dataclass
class Unit:
    """A function of the script, as it was seen at work."""

    path: str
    name: str
    node: Function
    owner: str
    """The class, if it is a method."""
    seconds: float = 0.0
    """Without those in functions that it called."""
    calls: int = 0
    kept: list[Call] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    """Names and values at the end of a call."""
    globals: dict[str, Any] = field(default_factory=dict)
    answers: dict[Any, Any] = field(default_factory=dict)
    repeated: int = 0
    """Calls with the arguments of an earlier one."""
    is_steady: bool = True
    """Equal arguments gave equal results, of plain values; nobody can change the arguments."""
    gives_collections: bool = False
    """Results are lists, sets or dictionaries, which whoever gets them can change."""

    def note(self, given: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        key = (given, tuple(sorted(named.items())))
        is_collection = type(result) in COLLECTIONS
        self.gives_collections |= is_collection
        parts = result.items() if type(result) is dict else result
        told = tuple(parts) if is_collection and len(result) <= MOST_PARTS else result
        self.is_steady = is_plain(key) and is_plain(told)
        if self.is_steady and key in self.answers:
            self.repeated += 1
            self.is_steady = self.answers[key] == result
        elif self.is_steady and len(self.answers) < MOST_ANSWERS:
            self.answers[key] = copy.copy(result)


def is_plain(value: Any) -> bool:
    return isinstance(value, PLAIN) or (type(value) is tuple and all(map(is_plain, value)))


def units_of(path: str, tree: ast.Module) -> Iterator[Unit]:
    """Top-level functions, and methods of top-level classes."""
    for node in tree.body:
        is_class = isinstance(node, ast.ClassDef)
        for each in node.body if is_class else [node]:
            if isinstance(each, Function):
                yield Unit(path, each.name, each, node.name if is_class else "")


class Recorder:
    """Wraps functions; what it is asked by name in the changed script is `__speed__`."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.inner = [0.0]
        """Seconds in functions that were called by those at work."""
        self.printed = io.StringIO()

    def changed(self, path: str, source: str) -> str:
        """The source with its functions wrapped, which then tell their names and values."""
        tree = ast.parse(source)
        for unit in units_of(path, tree):
            number, node = len(self.units), unit.node
            unit.node = copy.deepcopy(node)
            self.units.append(unit)
            node.decorator_list.append(expression(f"__speed__.wrap({number})"))
            told = f"if __speed__.units[{number}].calls <= {MOST_SEEN}: "
            ending = lines(f"{told}__speed__.units[{number}].seen.update(locals())")
            node.body = [ast.Try(node.body, [], [], ending)]
        return ast.unparse(ast.fix_missing_locations(tree))

    def wrap(self, number: int) -> Any:
        unit = self.units[number]

        def decorate(function: Any) -> Any:
            def recorded(*given: Any, **named: Any) -> Any:
                unit.calls += 1
                call = None
                # Whatever cannot be copied cannot be tried.
                if unit.calls in KEPT_CALLS:
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
                    self.inner[-1] += seconds
                if unit.calls > CALLS_TO_JUDGE and unit.repeated * 10 < unit.calls:
                    unit.is_steady = False
                if unit.is_steady:
                    unit.note(given, named, result)
                if call is None:
                    return result
                with contextlib.suppress(Exception):
                    call.outcome = copy.deepcopy((result, given, named))
                    call.printed = self.printed.getvalue()[at:].split("\n")
                    call.seconds = seconds
                    unit.kept.append(call)
                return result

            unit.globals = function.__globals__
            recorded.__name__, recorded.__doc__ = function.__name__, function.__doc__
            return recorded

        return decorate


class EnoughError(BaseException):
    """It has run long enough."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise EnoughError

    start = perf_counter()
    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, max(0.01, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, left - (perf_counter() - start)))


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
    builtins.__speed__ = recorder
    for path, text in files.items():
        # Folders are not copied.
        if path.endswith(".py") and "/" not in path:
            Path(path).write_text(recorder.changed(path, text), encoding="utf-8")
    sys.dont_write_bytecode = True
    sys.argv = [ENTRY]
    sys.path.insert(0, str(Path.cwd()))
    module = types.ModuleType("__main__")
    module.__file__ = str(Path(ENTRY).absolute())
    sys.modules["__main__"] = module
    code = compile(Path(ENTRY).read_text(encoding="utf-8"), ENTRY, "exec")
    start = perf_counter()
    with contextlib.redirect_stdout(recorder.printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            with within(seconds):
                exec(code, module.__dict__)
        except (Exception, SystemExit, EnoughError) as problem:
            # What was seen until then is what there is.
            if DEBUG:
                sys.__stderr__.write(f"  ran into {type(problem).__name__}: {problem}\n")
    units = [unit for unit in recorder.units if unit.kept]
    return sorted(units, key=lambda unit: -unit.seconds), perf_counter() - start
