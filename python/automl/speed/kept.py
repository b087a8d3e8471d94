"""Results of what a loop works out again and again for the same element."""

import ast
import functools

from automl.speed.pure import changed_in
from automl.speed.record import Function
from automl.speed.trees import (
    Block,
    Loop,
    expression,
    is_stored,
    lines,
    loops_of,
    names_in,
    swap,
)

LONG = ast.Call | ast.ListComp | ast.SetComp | ast.DictComp
# These take no longer than a look into a dictionary.
SHORT = {*"abs bool chr enumerate float hash int isinstance len max min ord range str zip".split()}
KEPT = "_kept"


def kept_parts(node: Function, only: int | None = None) -> bool:
    """
    What is the same in each round of a loop; in a loop within a loop, what depends on one name: a
    dictionary by its values. All that fits, or the one in this place.
    """
    found = 0
    for block, place, outer in outermost(node):
        stored = {each.id for each in ast.walk(outer) if is_stored(each)}
        changed = changed_in(outer)
        first = found + 1

        def choose(
            each: ast.AST, most: int, stored: set[str] = stored, changed: set[str] = changed
        ) -> ast.AST | None:
            nonlocal found
            if isinstance(each, ast.IfExp) and KEPT in ast.unparse(each):
                return each
            keys = keys_of(each, stored, changed)
            if keys is None or len(keys) > most:
                return None
            found += 1
            if only is not None and found != only + 1:
                return None
            known, key, text = f"{KEPT}{found}", keys.pop() if keys else "0", ast.unparse(each)
            return expression(
                f"{known}[{key}] if {key} in {known} else {known}.setdefault({key}, {text})"
            )

        for _, _, inner in outermost(outer):
            for statement in inner.body:
                swap(statement, functools.partial(choose, most=1))
        for statement in outer.body:
            swap(statement, functools.partial(choose, most=0))
        for number in range(first, found + 1):
            block[place:place] = lines(f"{KEPT}{number} = {{}}")
    return found > (only or 0)


def outermost(node: ast.AST) -> list[tuple[Block, int, Loop]]:
    """The loops that are in no other one."""
    loops = loops_of(node)
    inner = {id(each) for _, _, loop in loops for _, _, each in loops_of(loop)}
    return [each for each in loops if id(each[2]) not in inner]


def keys_of(node: ast.AST, stored: set[str], changed: set[str]) -> set[str] | None:
    """The names that a long expression depends on, of those that get other values in a loop."""
    if not isinstance(node, LONG):
        return None
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SHORT:
        return None
    own = {each.id for each in ast.walk(node) if is_stored(each)}
    names = names_in(node) - own
    keys = names & stored
    return None if names & (changed - keys) else keys
