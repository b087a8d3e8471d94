"""Tells whether two versions of a function give the same, and which is faster, by running both."""

import contextlib
import copy
import io
import json
import math
import os
import random
import resource
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from automl.speed.record import EnoughError, Unit, within

MOST_MEMORY = 2**30
"""Bytes beyond those in use that a version may take."""
DEBUG = os.environ.get("SPEED_DEBUG") == "1"


def is_same(one: Any, other: Any, depth: int = 0) -> bool:
    """Equal but for rounding; a number of numpy may become one of Python, not the other way."""
    if one is other or depth > 30:
        return True
    if isinstance(one, bool | int | float | complex) and isinstance(
        other, bool | int | float | complex
    ):
        if isinstance(one, bool) != isinstance(other, bool):
            return False
        if isinstance(one, int) and isinstance(other, int):
            return one == other
        if type(other).__module__ == "numpy" and type(one).__module__ != "numpy":
            return False
        return isinstance(one, int) == isinstance(other, int) and is_near(one, other)
    if type(one).__module__ == "numpy" and hasattr(one, "shape"):
        return is_same_array(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(
            is_same(a, b, depth + 1) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, dict):
        return list(one) == list(other) and all(is_same(one[k], other[k], depth + 1) for k in one)
    if type(one).__module__.startswith("pandas"):
        return list(one.index) == list(other.index) and is_same(
            one.to_dict(), other.to_dict(), depth + 1
        )
    if isinstance(one, str | bytes | set | frozenset | range) or one is None:
        return bool(one == other)
    if hasattr(one, "__dict__"):
        return is_same(vars(one), vars(other), depth + 1)
    return bool(one == other)


def is_near(one: Any, other: Any) -> bool:
    if one == other or (one != one and other != other):
        return True
    if isinstance(one, complex) or isinstance(other, complex):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def is_same_array(one: Any, other: Any) -> bool:
    import numpy as np

    if one.ndim == 0 and isinstance(other, int | float | complex):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))
    if getattr(other, "shape", None) != one.shape or other.dtype != one.dtype:
        return False
    if one.dtype.kind in "fc":
        scale = float(np.nanmax(np.abs(one), initial=0.0)) if one.size else 0.0
        return bool(
            np.allclose(one, other, rtol=1e-9, atol=1e-12 * max(1.0, scale), equal_nan=True)
        )
    return bool(np.array_equal(one, other))


def shuffled(value: Any, generator: random.Random, halves: bool) -> Any:
    """Other inputs of the same kind: lists and arrays in another order, or half of them."""
    if isinstance(value, list):
        items = [shuffled(each, generator, False) for each in value]
        generator.shuffle(items)
        return items[: (len(items) + 1) // 2] if halves else items
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 0) > 0:
        order = list(range(len(value)))
        generator.shuffle(order)
        return value[order[: (len(order) + 1) // 2] if halves else order]
    return value


def inputs_of(unit: Unit) -> list[Any]:
    """The calls that were kept, and others made from the first of them."""
    generator = random.Random(0)
    given, named = unit.kept[0].given, unit.kept[0].named
    made = []
    for halves in (False, True):
        other = tuple(shuffled(each, generator, halves) for each in given)
        made.append((other, {k: shuffled(v, generator, halves) for k, v in named.items()}))
    return made


def outcome(function: Any, call: Any) -> tuple[Any, list[str], float]:
    """What a call gives and changes, what it prints, and how long it takes."""
    given, named = copy.deepcopy(call)
    with quiet() as printed:
        start = perf_counter()
        result = function(*given, **named)
        seconds = perf_counter() - start
    return copy.deepcopy((result, given, named)), printed.getvalue().split("\n"), seconds


def repeated(make: Any, call: Any) -> tuple[Any, list[str], float]:
    """An outcome with the shortest time of some calls: of many, if they are short."""
    result, printed, seconds = outcome(make(), call)
    if seconds < 0.1:
        function = make()
        times = max(1, min(20, int(0.05 / max(seconds, 1e-9))))
        seconds = min(seconds, *(outcome(function, call)[2] for _ in range(times)))
    return result, printed, seconds


class Trials:
    """What a function gave on its inputs, against which other versions of it are held."""

    def __init__(self, unit: Unit, make: Any, seconds: float) -> None:
        self.cases: list[Any] = []
        end = perf_counter() + seconds
        for call in unit.kept:
            before, printed = call.seconds, call.printed
            # Those that take long were seen once.
            if before < seconds / 4:
                again, others, before = repeated(make, (call.given, call.named))
                printed = [line for line in printed if line in others]
                if not is_same(call.outcome, again):
                    continue
            # What shows nothing proves nothing.
            if any(printed) or not is_same(call.outcome, (None, call.given, call.named)):
                self.cases.append(((call.given, call.named), call.outcome, printed, before, True))
        for call in inputs_of(unit):
            if perf_counter() > end or not self.cases:
                break
            with contextlib.suppress(Exception, EnoughError), within(end - perf_counter()):
                expected, printed, before = outcome(make(), call)
                self.cases.append((call, expected, [], before, False))
        self.seconds = sum(before for *_, before, is_seen in self.cases if is_seen)

    def compare(self, make: Any) -> float | None:
        """Seconds of another version for calls that were seen; None where its results differ."""
        total = 0.0
        for call, expected, printed, before, is_seen in self.cases:
            found, lines, after = repeated(make, call) if is_seen else outcome(make(), call)
            is_alike = is_same(expected, found) and all(line in lines for line in printed)
            if not is_alike or after > 2 * before + 0.05:
                return None
            if is_seen:
                total += after
        return total

    def judge(self, make: Any) -> float | None:
        """Compares in a process of its own, which may fail, hang or outgrow its memory."""
        if self.seconds == 0:
            return None
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            answer: float | None = None
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                pages = int(Path("/proc/self/statm").read_text().split()[0])
                limit = pages * resource.getpagesize() + MOST_MEMORY
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                answer = self.compare(make)
            except BaseException as problem:  # noqa: BLE001
                if DEBUG:
                    os.write(2, f"    {type(problem).__name__}: {problem}\n".encode())
            finally:
                os.write(write, json.dumps(answer).encode())
                os._exit(0)
        os.close(write)
        most = 3 * sum(before for *_, before, _ in self.cases) + 2
        ready, _, _ = select.select([read], [], [], most)
        answer = os.read(read, 4096) if ready else b""
        os.close(read)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return json.loads(answer) if answer else None


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        yield printed
