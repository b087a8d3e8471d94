"""Everyday ways to make plain Python faster; each changes a function in place, if it fits."""

import ast
import functools
from collections.abc import Callable

from automl.speed.elements import elements
from automl.speed.kept import kept_parts
from automl.speed.matches import look_up
from automl.speed.members import sets_for_lists
from automl.speed.record import Function
from automl.speed.tables import table_arrays, table_parts, table_rows
from automl.speed.trees import (
    always,
    blocks,
    expression,
    is_stored,
    lines,
    loops_of,
    names_in,
    put,
    swap,
)

DATES = ("strptime", "to_datetime", "Timestamp")
AGAIN = "_again"
"""The helper that remembers results; the only one without numpy."""


def remember(node: Function) -> bool:
    """A function that calls itself more than once."""
    calls = [
        c for c in ast.walk(node) if isinstance(c, ast.Call) and ast.unparse(c.func) == node.name
    ]
    if len(calls) > 1:
        node.decorator_list.append(expression("functools.lru_cache(maxsize=None)"))
    return len(calls) > 1


def dates_again(node: Function) -> bool:
    """Dates in texts, which calls of a function may read again."""

    def choose(each: ast.AST) -> ast.AST | None:
        match each:
            case ast.Call(ast.Attribute(attr=way), [_, *_] as given, []) if way in DATES:
                return ast.Call(ast.Name(AGAIN, ast.Load()), [each.func, *given], [])
        return None

    return swap(node, choose) > 0


def count_once(node: Function) -> bool:
    """`items.count(x)` in a loop: all are counted before it."""
    for block, place, loop in loops_of(node):
        for each in ast.walk(loop):
            match each:
                case ast.Call(ast.Attribute(ast.Name(id=name), "count"), [item]):
                    put(loop, ast.unparse(each), f"_{name}_counts[{ast.unparse(item)}]")
                    block[place:place] = lines(f"_{name}_counts = collections.Counter({name})")
                    return True
    return False


def before_any_end(loop: ast.For | ast.While) -> list[ast.stmt]:
    """The statements of a loop that each round reaches, if it is not the last one."""
    ends = ast.Continue | ast.Break | ast.Return
    for place, statement in enumerate(loop.body):
        if any(isinstance(each, ends) for each in ast.walk(statement)):
            return loop.body[: place + 1]
    return loop.body


def parts_once(node: Function) -> bool:
    """`table[i]` in a loop that changes neither: it is looked up before the loop."""
    found = 0
    for block, place, loop in loops_of(node):
        own = {each.id for each in ast.walk(loop) if is_stored(each)}
        for each in ast.walk(loop):
            match each:
                case ast.Subscript(value=ast.Name(id=name)) if not isinstance(each.ctx, ast.Load):
                    own.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                    own.add(name)
        parts = {
            ast.unparse(each)
            for statement in before_any_end(loop)
            for each in always(statement)
            if isinstance(each, ast.Subscript)
            and isinstance(each.value, ast.Name)
            and not isinstance(each.slice, ast.Slice)
            and not names_in(each) & own
        }
        for part in sorted(parts):
            put(loop, part, f"_part{found}")
            block[place:place] = lines(f"_part{found} = {part}")
            place, found = place + 1, found + 1
    return found > 0


def least(node: Function) -> bool:
    """`x = min(a, b, c)` in a loop, and the same with max: by comparisons."""
    found = False
    for _, _, loop in loops_of(node):
        for block in blocks(loop):
            for place in range(len(block) - 1, -1, -1):
                match block[place]:
                    case ast.Assign(
                        value=ast.Call(ast.Name(id="min" | "max" as way), [first, *others], [])
                    ) if 1 <= len(others) <= 3 and not any(
                        isinstance(each, ast.Starred) for each in [first, *others]
                    ):
                        sign = "<" if way == "min" else ">"
                        steps = [f"_{way} = {ast.unparse(first)}"]
                        for other in others:
                            steps.append(f"_other = {ast.unparse(other)}")
                            steps.append(f"if _other {sign} _{way}:\n    _{way} = _other")
                        block[place].value = expression(f"_{way}")
                        block[place:place] = lines("\n".join(steps))
                        found = True
    return found


Rules = dict[str, Callable[[Function], bool]]
LOOK_UP = "python: a dictionary in place of a search"

RULES: Rules = {
    "python: remembered results": remember,
    "python: dates read once": dates_again,
    LOOK_UP: look_up,
    "python: sets in place of lists": sets_for_lists,
    "python: counted once": count_once,
    "python: results kept for each element": kept_parts,
    # Of some elements no dictionary can be made.
    **{
        f"python: results kept for each element ({number + 1})": functools.partial(
            kept_parts, only=number
        )
        for number in range(3)
    },
    "pandas: columns as arrays": table_arrays,
    "pandas: rows as dictionaries": table_rows,
    "pandas: parts found once": table_parts,
}
LAST_RULES: Rules = {
    "numpy: elements from lists": elements,
    # Of some names more may be asked than elements of lists can do.
    **{
        f"numpy: elements from lists ({number + 1})": functools.partial(elements, only=number)
        for number in range(4)
    },
    "python: least and greatest by comparisons": least,
    "python: parts looked up once": parts_once,
}
"""After all others, which would not know the code again."""
