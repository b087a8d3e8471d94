"""Finds faster versions of the functions in which a script spends its time, and proves them."""

import ast
import contextlib
import copy
import functools
import re
import textwrap
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from automl.offers import MOST_SECONDS, Offer
from automl.speed.arrays import Nest
from automl.speed.lines import UnfitError, np
from automl.speed.plain import LAST_RULES, RULES, Rules
from automl.speed.prove import DEBUG, Trials
from automl.speed.record import Function, Unit, aside, record
from automl.speed.trees import loops_of
from automl.speed.unfold import unfolded

# The text of helpers.py, which goes into scripts.
HELPERS = ""
LEAST_SHARE = 0.02
"""Of the script's time, for a function to be looked at."""
LEAST_GAIN = 0.9
LEAST_SECONDS = 5e-7
MODULES = ("collections", "functools", "itertools", "math")


class Faster:
    """One function on its way to its fastest version."""

    def __init__(self, unit: Unit, units: list[Unit], end: float) -> None:
        self.unit, self.units, self.end = unit, units, end
        self.node = unit.node
        self.names: list[str] = []
        self.trials = Trials(unit, lambda: made(unit, unit.node), (end - perf_counter()) / 8)
        self.seconds = self.trials.seconds

    def accept(self, name: str, node: Function) -> bool:
        if perf_counter() > self.end:
            return False
        ast.fix_missing_locations(node)
        seconds = self.trials.judge(lambda: made(self.unit, node))
        if DEBUG:
            print(f"  {self.unit.name}: {name}: {self.seconds:.4f} -> {seconds}")
        if seconds is None or seconds > LEAST_GAIN * self.seconds:
            return False
        self.node, self.seconds = node, seconds
        self.names.append(name)
        return True

    def climb(self) -> None:
        self.follow(RULES)
        for _ in range(4):
            if np is None or not self.arrays():
                break
        self.follow(LAST_RULES)

    def follow(self, rules: Rules) -> None:
        for name, rule in rules.items():
            for _ in range(3):
                node = copy.deepcopy(self.node)
                changed = False
                with contextlib.suppress(ValueError, AttributeError, IndexError, TypeError):
                    changed = rule(node)
                if not changed or not self.accept(name, node):
                    break

    def arrays(self) -> bool:
        """The outermost loop that whole arrays can take the place of."""
        for start in (self.node, unfolded(self.node, self.units)):
            for place in range(len(loops_of(start))):
                node = copy.deepcopy(start)
                block, at, loop = loops_of(node)[place]
                if not isinstance(loop, ast.For):
                    continue
                try:
                    lines = Nest(self.unit).written(loop)
                    block[at : at + 1] = ast.parse("\n".join(lines)).body
                except (
                    UnfitError,
                    ValueError,
                    AttributeError,
                    KeyError,
                    TypeError,
                    SyntaxError,
                ) as problem:
                    if DEBUG:
                        print(
                            f"  {self.unit.name}:{loop.lineno}: {type(problem).__name__} {problem}"
                        )
                    continue
                if DEBUG:
                    print(textwrap.indent("\n".join(lines), "      "))
                if self.accept("numpy: whole arrays", node):
                    return True
        return False


def made(unit: Unit, node: Function) -> Any:
    """The function that a definition makes among the script's names."""
    names = {**unit.globals, **needed()}
    exec(compile(ast.Module([node], []), unit.path, "exec"), names)
    return names[node.name]


@functools.cache
def needed() -> dict[str, Any]:
    names: dict[str, Any] = {name: __import__(name) for name in MODULES}
    with contextlib.suppress(ImportError):
        exec(HELPERS, names)
    return names


def unwrap(units: list[Unit]) -> None:
    """Puts the functions back as the script has them, so that no time is lost on what is kept."""
    for unit in units:
        holder = unit.globals.get(unit.owner)
        if unit.node.decorator_list:
            continue
        function = made(Unit(unit.path, unit.name, unit.node, "", globals=unit.globals), unit.node)
        if holder is not None:
            setattr(holder, unit.name, function)
        elif unit.owner == "":
            own = unit.globals
            exec(compile(ast.Module([unit.node], []), unit.path, "exec"), own)


def changed(text: str, faster: list[Faster]) -> str:
    """The file with other versions of functions, and what they need."""
    lines = text.split("\n")
    for each in sorted(faster, key=lambda f: -f.unit.node.lineno):
        old = each.unit.node
        new = textwrap.indent(ast.unparse(each.node), " " * old.col_offset)
        lines[old.lineno - 1 : old.end_lineno] = new.split("\n")
    body = "\n".join(lines)
    tree = ast.parse(text)
    imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    more = [f"import {m}" for m in MODULES if re.search(rf"\b{m}\.", body) and m not in imported]
    helpers = helpers_for(body)
    if "np" not in imported and (helpers or re.search(r"\bnp\.", body)):
        more.append("import numpy as np")
    added = "\n".join([*more, *(["", "", *helpers] if helpers else [])])
    if not added:
        return body
    tops = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    first = [n for n in tree.body[:1] if isinstance(n, ast.Expr)]
    at = max((n.end_lineno or 0 for n in tops[-1:] or first), default=0)
    place = body.split("\n")
    # Only what stands before the first function can be where it was.
    starts = [
        n.lineno for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom | ast.Expr)
    ]
    if starts and at >= starts[0]:
        at = max((n.end_lineno or 0 for n in [*tops, *first] if n.lineno < starts[0]), default=0)
    place[at:at] = added.split("\n")
    return "\n".join(place)


def helpers_for(body: str) -> list[str]:
    """The helpers that are called, and those that these call."""
    definitions = {n.name: n for n in ast.parse(HELPERS).body if isinstance(n, ast.FunctionDef)}
    wanted: list[str] = []
    texts = [body]
    while texts:
        text = texts.pop()
        for name, node in definitions.items():
            if name not in wanted and re.search(rf"(?<![\w.]){name}\(", text):
                wanted.append(name)
                texts.append(ast.unparse(node))
    return [f"{ast.unparse(definitions[name])}\n\n" for name in definitions if name in wanted]


def find(files: dict[str, str]) -> Iterator[Offer]:
    end = perf_counter() + MOST_SECONDS - 2
    with aside():
        yield from offers_for(files, end)


def offers_for(files: dict[str, str], end: float) -> Iterator[Offer]:
    units, total = record(files, (end - perf_counter()) / 2)
    unwrap(units)
    faster: list[Faster] = []
    for unit in units:
        if unit.seconds < LEAST_SHARE * total or unit.node.decorator_list or perf_counter() > end:
            continue
        one = Faster(unit, units, end)
        if one.seconds < LEAST_SECONDS:
            continue
        one.climb()
        if one.names:
            faster.append(one)
    if not faster:
        return
    groups = [faster] if len(faster) == 1 else [faster, *([each] for each in faster)]
    for group in groups:
        saved = sum(f.unit.seconds * (1 - f.seconds / f.trials.seconds) for f in group)
        texts = {
            path: changed(text, [f for f in group if f.unit.path == path])
            for path, text in files.items()
            if any(f.unit.path == path for f in group)
        }
        parts = [f"{f.unit.name} (line {f.unit.node.lineno})" for f in group]
        ways = list(dict.fromkeys(name for f in group for name in f.names))
        name = (
            "python: all that is faster" if len(group) > 1 else f"{ways[0]}, {group[0].unit.name}"
        )
        change = f"{', '.join(parts)}: {', '.join(ways)}."
        reason = "both versions gave the same on recorded calls and on others made from them."
        effort = max(0.02, 1 - min(1.0, saved / total))
        weight = 0.95 if len(group) > 1 or len(groups) == 1 else 0.6
        yield Offer(name, change, reason, weight, effort, texts, True)
