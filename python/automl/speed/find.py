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
from automl.speed.expressions import UnfitError, np
from automl.speed.matches import guards_of, look_up
from automl.speed.plain import AGAIN, LAST_RULES, LOOK_UP, RULES, Rules
from automl.speed.prove import Trials
from automl.speed.pure import is_pure, may_change
from automl.speed.record import DEBUG, Function, Unit, aside, record
from automl.speed.trees import expression, lines, loops_of
from automl.speed.unfold import unfolded

# The text of helpers.py, which goes into scripts.
HELPERS = ""
LEAST_SHARE = 0.02
"""Of the script's time, for a function to be looked at."""
LEAST_SECONDS = 5e-7
LEAST_REPEATED, LEAST_CALLS, LEAST_FOR_MEMORY = 0.3, 100, 5e-7
"""
The share of calls with arguments of earlier ones, the calls, and the seconds of one: a look-up
takes 1e-7 s.
"""
MOST_OF_BEFORE = 0.9
"""How long a version may take, as a share of the one before."""
MODULES = ("collections", "functools", "itertools", "math")
# What goes wrong where a rule meets something that it was not made for.
UNFIT = (UnfitError, ValueError, AttributeError, IndexError, KeyError, TypeError, SyntaxError)


class Faster:
    """One function on its way to its fastest version."""

    def __init__(self, unit: Unit, units: list[Unit], end: float) -> None:
        self.unit, self.units, self.end = unit, units, end
        self.node = unit.node
        self.ways: list[str] = []
        self.trials = Trials(unit, lambda: made(unit, unit.node), (end - perf_counter()) / 8)
        self.seconds = self.trials.seconds

    def judge(self, node: Function) -> float | None:
        before = self.node
        return self.trials.judge(lambda: made(self.unit, node), lambda: made(self.unit, before))

    def accept(self, way: str, node: Function) -> bool:
        if perf_counter() > self.end:
            return False
        ast.fix_missing_locations(node)
        share = self.judge(node)
        if DEBUG:
            print(f"  {self.unit.name}: {way}: {self.seconds:.4f} s times {share}")
        if share is None or share > MOST_OF_BEFORE:
            return False
        self.node, self.seconds = node, self.seconds * share
        self.ways.append(way.partition(" (")[0])
        return True

    def climb(self) -> None:
        guards = guards_of(self.units)
        self.follow({**RULES, LOOK_UP: functools.partial(look_up, guards=guards)})
        for _ in range(4):
            if np is None or not self.arrays():
                break
        self.follow(LAST_RULES)
        self.remember()

    def follow(self, rules: Rules) -> None:
        for way, rule in rules.items():
            for _ in range(3):
                node = copy.deepcopy(self.node)
                changed = False
                with contextlib.suppress(*UNFIT):
                    changed = rule(node)
                if not changed or not self.accept(way, node):
                    break

    def remember(self) -> None:
        """Results kept for arguments that often come again. Trials are of single calls."""
        unit, share = self.unit, self.unit.repeated / self.unit.calls
        mean = self.seconds / sum(not call.is_made_up for call in self.trials.calls)
        is_often = share >= LEAST_REPEATED and unit.calls >= LEAST_CALLS and mean > LEAST_FOR_MEMORY
        if not is_often or unit.owner or not unit.is_steady or self.node.decorator_list:
            return
        if not is_pure(unit, self.units):
            return
        if unit.gives_collections and any(may_change(each.node, unit.name) for each in self.units):
            return
        node = copy.deepcopy(self.node)
        node.decorator_list.append(expression("functools.lru_cache(100_000, typed=True)"))
        if self.judge(ast.fix_missing_locations(node)) is not None:
            self.node, self.seconds = node, self.seconds * (1 - share)
            self.ways.append("python: results kept for the same arguments")

    def arrays(self) -> bool:
        """The outermost loop that whole arrays can take the place of."""
        # What other rules made of a loop may be in the way.
        nodes = [self.node] if self.node is self.unit.node else [self.unit.node, self.node]
        for start in (each for node in nodes for each in (node, unfolded(node, self.units))):
            for number in range(len(loops_of(start))):
                node = copy.deepcopy(start)
                block, place, loop = loops_of(node)[number]
                nest = Nest(self.unit)
                try:
                    written = lines("\n".join(nest.written(loop)))
                except UNFIT as problem:
                    if DEBUG:
                        print(f"  {self.unit.name}:{loop.lineno}: {problem!r}")
                    continue
                head = lines("\n".join(nest.before()))
                block[place : place + 1] = [*head, *written]
                if DEBUG:
                    print(textwrap.indent(ast.unparse([*head, *written]), "      "))
                if self.accept("numpy: whole arrays", node):
                    return True
                # Of an empty list it is not known what its elements are.
                are_there = " and ".join(f"{name}.size" for name in nest.head)
                if are_there:
                    empty = ast.If(expression(are_there), written, [loop])
                    block[place : place + len(head) + len(written)] = [*head, empty]
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
    for text in helpers_for(AGAIN) if np is None else [HELPERS]:
        exec(text, names)
    return names


def unwrap(units: list[Unit]) -> None:
    """Puts the functions back as the script has them, so that no time is lost on what is kept."""
    for unit in units:
        if not unit.node.decorator_list:
            holder = unit.globals.get(unit.owner)
            names = dict(unit.globals) if unit.owner else unit.globals
            exec(compile(ast.Module([unit.node], []), unit.path, "exec"), names)
            if holder is not None:
                setattr(holder, unit.name, names[unit.name])


def changed(text: str, faster: list[Faster]) -> str:
    """The file with other versions of functions, and what they need."""
    body = text.split("\n")
    for each in sorted(faster, key=lambda f: -f.unit.node.lineno):
        old = each.unit.node
        new = textwrap.indent(ast.unparse(each.node), " " * old.col_offset)
        body[old.lineno - 1 : old.end_lineno] = new.split("\n")
    helpers = helpers_for("\n".join(body))
    tree = ast.parse(text)
    imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    needs = {**{name: f"import {name}" for name in MODULES}, "np": "import numpy as np"}
    used = "\n".join([*body, *helpers])
    added = [
        line
        for name, line in needs.items()
        if name not in imported and re.search(rf"\b{name}\.", used)
    ]
    # After the imports at the top.
    at = 0
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr):
            break
        at = node.end_lineno or at
    return "\n".join([*body[:at], *added, *helpers, *body[at:]])


def helpers_for(text: str) -> list[str]:
    """The helpers that are called, and those that these call, as lines."""
    tree = ast.parse(HELPERS)
    kinds = Function | ast.ClassDef
    helpers = {n.name: ast.unparse(n) for n in tree.body if isinstance(n, kinds)}
    wanted: set[str] = set()
    while more := {name for name in helpers.keys() - wanted if re.search(rf"\b{name}\b", text)}:
        wanted |= more
        text += "".join(helpers[name] for name in more)
    return [f"\n\n{helpers[name]}" for name in helpers if name in wanted]


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
        if one.seconds >= LEAST_SECONDS:
            one.climb()
        if one.ways:
            faster.append(one)
    # All together first, then each alone.
    groups = [faster, *([each] for each in faster if len(faster) > 1)] if faster else []
    for group in groups:
        saved = sum(f.unit.seconds * (1 - f.seconds / f.trials.seconds) for f in group)
        texts = {
            path: changed(text, own)
            for path, text in files.items()
            if (own := [f for f in group if f.unit.path == path])
        }
        ways = list(dict.fromkeys(way for f in group for way in f.ways))
        parts = [f"{f.unit.name} (line {f.unit.node.lineno})" for f in group]
        yield Offer(
            name="python: all that is faster"
            if len(group) > 1
            else f"{ways[0]}, {group[0].unit.name}",
            change=f"{', '.join(parts)}: {', '.join(ways)}.",
            reason="both versions gave the same on recorded calls and on others made from them.",
            weight=0.95 if group is faster else 0.6,
            effort=max(0.02, 1 - saved / total),
            files=texts,
            isProven=True,
        )
