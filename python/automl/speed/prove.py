"""Tells whether two versions of a function give the same, and which is faster, by running both."""

import cmath
import contextlib
import copy
import io
import multiprocessing
import random
import resource
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from automl.speed.record import DEBUG, Call, EnoughError, Unit, within

LONG_SHARE = 0.1
"""Of the time for all trials, in one call."""
LEAST_WAIT = 1
"""Seconds, for a version that is slower."""
LEAST_TELLING = 0.05
"""Seconds of a call that shows which version is faster."""
LONGEST_AGAIN = 0.6
"""Seconds of a call that is made a second time, since others may have been at work."""
LEAST_GAIN = 0.97
"""A version that takes a larger share of the time for half an input is not tried on all of it."""
MOST_MEMORY = 2**30
"""Bytes beyond those in use that a version may take."""


def is_same(one: Any, other: Any, depth: int = 0) -> bool:
    """Equal but for rounding; a number of numpy may become one of Python, not the other way."""
    if one is other or depth > 30:
        return True
    if getattr(one, "ndim", None) == 0 and not hasattr(other, "ndim"):
        one = one.item()
    if type(one) is not type(other):
        return False
    match one:
        case float() | complex():
            is_nan = one != one and other != other
            return is_nan or cmath.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        case list() | tuple():
            pairs = zip(one, other, strict=False)
            return len(one) == len(other) and all(is_same(a, b, depth + 1) for a, b in pairs)
        case dict():
            is_alike = list(one) == list(other)
            return is_alike and all(is_same(one[key], other[key], depth + 1) for key in one)
    library = type(one).__module__.partition(".")[0]
    if library == "numpy":
        return is_same_array(one, other)
    if library == "pandas":
        is_alike = list(one.index) == list(other.index)
        return is_alike and is_same(one.to_dict(), other.to_dict(), depth + 1)
    if hasattr(one, "__dict__"):
        return is_same(vars(one), vars(other), depth + 1)
    return bool(one == other)


def is_same_array(one: Any, other: Any) -> bool:
    import numpy as np

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    scale = float(np.abs(one[np.isfinite(one)]).max(initial=1.0))
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12 * scale, equal_nan=True))


def emptied(call: Call) -> Iterator[Call]:
    """The same with nothing in one of the arguments: what often is a case of its own."""
    for place, value in enumerate(call.given):
        if isinstance(value, str | list | tuple | dict | set) and len(value) > 0:
            given = (*call.given[:place], type(value)(), *call.given[place + 1 :])
            yield Call(given, call.named, is_made_up=True)


def shuffled(value: Any, generator: random.Random, halves: bool) -> Any:
    """Another input of the same kind: a list or an array in another order, or half of it."""
    is_list = isinstance(value, list)
    is_array = type(value).__module__ == "numpy" and value.ndim > 0
    if not is_list and not is_array:
        return value
    order = generator.sample(range(len(value)), len(value) // 2 if halves else len(value))
    return [value[place] for place in order] if is_list else value[order]


def outcome(make: Callable[[], Any], call: Call) -> tuple[Any, list[str], float]:
    """What a call gives and changes, what it prints, and how long it takes."""
    function, printed = make(), io.StringIO()
    given, named = copy.deepcopy((call.given, call.named))
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        worked, start = process_time(), perf_counter()
        result = function(*given, **named)
        seconds = perf_counter() - start
        # Without the time in which other processes ran.
        seconds = min(seconds, process_time() - worked)
    return copy.deepcopy((result, given, named)), printed.getvalue().split("\n"), seconds


def timed(make: Callable[[], Any], call: Call) -> tuple[Any, list[str], float]:
    """An outcome with the shortest time of some calls: of many, if they are short."""
    result, printed, seconds, _ = in_turns(make, make, call)
    return result, printed, seconds


def in_turns(
    make: Callable[[], Any], before: Callable[[], Any], call: Call
) -> tuple[Any, list[str], float, float]:
    """
    As `timed`, with the shortest time of another version, measured in turns with this one: what
    else the machine does must not decide which is faster.
    """
    result, printed, seconds = outcome(make, call)
    usual = seconds if make is before else outcome(before, call)[2]
    slower = max(seconds, usual, 1e-9)
    rounds = min(20, max(int(0.1 / slower), int(slower < LONGEST_AGAIN)))
    for turn in range(3 * rounds):
        # Beside other work, the first turns may not show which of two is faster.
        if turn >= rounds and (make is before or not 0.8 < seconds / usual < 1.5):
            break
        seconds = min(seconds, outcome(make, call)[2])
        usual = seconds if make is before else min(usual, outcome(before, call)[2])
    return result, printed, seconds, usual


def is_telling(call: Call, make: Callable[[], Any], most: float) -> bool:
    """Whether a call gives the same each time, and something at all."""
    # Those that take long were seen once.
    if call.seconds < most:
        again, printed, call.seconds = timed(make, call)
        call.printed = [line for line in call.printed if line in printed]
        if not is_same(call.outcome, again):
            return False
    is_idle = is_same(call.outcome, (None, call.given, call.named))
    return any(call.printed) or not is_idle


class Trials:
    """What a function gave on its inputs, against which other versions of it are held."""

    def __init__(self, unit: Unit, make: Callable[[], Any], seconds: float) -> None:
        end = perf_counter() + seconds
        self.calls = [call for call in unit.kept if is_telling(call, make, seconds / 4)]
        self.seconds = sum(call.seconds for call in self.calls)
        generator = random.Random(0)
        made_up = []
        first = unit.kept[0]
        # Of what takes long, half must do.
        for halves in (False, True) if first.seconds < LONG_SHARE * seconds else (True,):
            given = tuple(shuffled(each, generator, halves) for each in first.given)
            named = {key: shuffled(each, generator, halves) for key, each in first.named.items()}
            made_up.append(Call(given, named, is_made_up=True))
        for made in [*made_up, *emptied(first)] if self.calls else []:
            with contextlib.suppress(Exception, EnoughError), within(end - perf_counter()):
                made.outcome, _, made.seconds = outcome(make, made)
                self.calls.append(made)

    def compare(self, make: Callable[[], Any], before: Callable[[], Any]) -> float | None:
        """
        The time of another version, as a share of that of the one before, for calls that were seen;
        None where its results differ.
        """
        total = total_before = 0.0
        for call in sorted(self.calls, key=lambda each: not each.is_made_up):
            is_long = call.seconds > LEAST_TELLING
            if call.is_made_up and not is_long:
                found, printed, seconds = outcome(make, call)
                usual = 0.0
            else:
                with within(5 * call.seconds + LEAST_WAIT):
                    found, printed, seconds, usual = in_turns(make, before, call)
            is_alike = is_same(call.outcome, found) and all(x in printed for x in call.printed)
            if not is_alike or seconds > 2 * call.seconds + 0.05:
                return None
            if call.is_made_up and is_long and seconds > LEAST_GAIN * usual:
                return seconds / usual
            if not call.is_made_up:
                total += seconds
                total_before += usual
        return total / total_before

    def answer(self, make: Callable[[], Any], before: Callable[[], Any], pipe: Connection) -> None:
        """Compares within limits of a process of its own."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            pipe.send(self.compare(make, before))
        except BaseException as problem:  # noqa: BLE001
            if DEBUG:
                print(f"    {type(problem).__name__}: {problem}")
            pipe.send(None)

    def judge(self, make: Callable[[], Any], before: Callable[[], Any]) -> float | None:
        """Compares in a process of its own, which may fail, hang or outgrow its memory."""
        if self.seconds == 0:
            return None
        fork = multiprocessing.get_context("fork")
        here, there = fork.Pipe()
        child = fork.Process(target=self.answer, args=(make, before, there))
        child.start()
        there.close()
        most = 10 * sum(call.seconds for call in self.calls) + 4
        try:
            return here.recv() if here.poll(most) else None
        except EOFError:
            return None
        finally:
            child.kill()
            child.join()
