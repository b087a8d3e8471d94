"""Everyday ways to make plain Python faster; each changes a function in place, if it fits."""

import ast
import functools
from collections.abc import Callable

from automl.speed.elements import elements
from automl.speed.kept import kept_parts
from automl.speed.matches import look_up
from automl.speed.members import counts_for_lists, sets_for_lists
from automl.speed.record import Function
from automl.speed.roots import distances, products
from automl.speed.tables import table_arrays, table_entries, table_parts, table_rows
from automl.speed.trees import (
    always,
    blocks,
    expression,
    is_stored,
    lines,
    loops_of,
    names_in,
    put,
    stored_in,
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


def queue(node: Function) -> bool:
    """A list whose first element is taken again and again."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    names = {
        ast.unparse(each.func.value)
        for each in calls
        if isinstance(each.func, ast.Attribute) and ast.unparse(each).endswith(".pop(0)")
    }
    for name in names:
        put(node, f"{name}.pop(0)", f"{name}.popleft()")
    for each in ast.walk(node):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                each.value = expression(f"collections.deque({ast.unparse(value)})")
    return bool(names)


def sums_of_parts(node: Function) -> bool:
    """`sum(items[a:b])` in a loop, also by a name: differences of sums from the beginning."""
    for block, place, loop in loops_of(node):
        for each in ast.walk(loop):
            match each:
                case ast.Assign([ast.Name(id=part)], value):
                    pass
                case ast.Call(ast.Name(id="sum"), [value]):
                    part = ast.unparse(value)
                case _:
                    continue
            match value:
                case ast.Subscript(ast.Name(id=name), ast.Slice(first, end, None)):
                    start = "0" if first is None else ast.unparse(first)
                    length = f"len({name})"
                    stop = length if end is None else f"min({length}, {ast.unparse(end)})"
                case _:
                    continue
            sums = f"_sums_{name}"
            if put(loop, f"sum({part})", f"({sums}[{stop}] - {sums}[{start}])"):
                put(loop, f"len({part})", f"({stop} - ({start}))")
                block[place:place] = lines(f"{sums} = [0, *itertools.accumulate({name})]")
                if isinstance(each, ast.Assign):
                    each.value = expression("None")
                return True
    return False


def late(node: Function) -> bool:
    """What is worked out before a test that ends the round, and does not need it."""
    ends = ast.Return | ast.Continue | ast.Break | ast.Raise
    moved = False
    for block in blocks(node):
        for place in range(1, len(block)):
            at = place
            while at > 0:
                before, test = block[at - 1 : at + 1]
                if not isinstance(test, ast.If) or not isinstance(before, ast.Assign):
                    break
                is_end = not test.orelse and isinstance(test.body[-1], ends)
                calls = any(isinstance(each, ast.Call) for each in ast.walk(before.value))
                if not is_end or not calls or stored_in(before) & names_in(test):
                    break
                block[at - 1 : at + 1] = test, before
                moved, at = True, at - 1
    return moved


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


def divisors(node: Function) -> bool:
    """A search for a divisor ends at the root."""
    for _, _, loop in loops_of(node):
        match loop:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[_, ast.Name(id=number)])):
                for each in ast.walk(loop):
                    match each:
                        case ast.BinOp(left=ast.Name(id=divided), op=ast.Mod()):
                            if divided == number:
                                loop.iter.args[1] = expression(f"math.isqrt({number}) + 1")
                                return True
    return False


def sort(node: Function) -> bool:
    """Loops that swap until all is in order."""
    for block, place, loop in loops_of(node):
        for each in ast.walk(loop):
            match each:
                case ast.Assign(
                    targets=[ast.Tuple(elts=[ast.Subscript(value=ast.Name(id=name)), *_])],
                    value=ast.Tuple(elts=[ast.Subscript(), ast.Subscript()]),
                ):
                    compares = [c for c in ast.walk(loop) if isinstance(c, ast.Compare)]
                    down = any(isinstance(c.ops[0], ast.Lt) for c in compares)
                    block[place : place + 1] = lines(f"{name}.sort(reverse={down})")
                    return True
    return False


def nested_tables(node: Function) -> bool:
    """A dictionary by pairs: one of dictionaries."""
    for each in ast.walk(node):
        match each:
            case ast.Assign(targets=[ast.Name(id=table)], value=ast.Dict(keys=[])):
                each.value = expression("collections.defaultdict(dict)")

                def choose(part: ast.AST, table: str = table) -> ast.AST | None:
                    match part:
                        case ast.Subscript(ast.Name(id=name), ast.Tuple(elts=[one, other])):
                            if name == table:
                                row = ast.Subscript(part.value, one, ast.Load())
                                return ast.Subscript(row, other, part.ctx)
                    return None

                uses = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
                if swap(node, choose) == uses.count(table) - 1:
                    return True
    return False


def sizes_of_unions(node: Function) -> bool:
    """`len(a | b)` of sets, from the size of what both share."""
    for block in blocks(node):
        for place, statement in enumerate(block):
            match statement:
                case ast.Assign([ast.Name(id=union)], ast.BinOp(one, ast.BitOr(), other)):
                    one, other = ast.unparse(one), ast.unparse(other)
                    both, size = f"_{union}_both", f"_{union}_size"
                    put(node, f"len({one} & {other})", both)
                    put(node, f"len({union})", size)
                    block[place : place + 1] = lines(
                        f"{both} = len({one} & {other})\n"
                        f"{size} = len({one}) + len({other}) - {both}"
                    )
                    return union not in names_in(node)
    return False


Rules = dict[str, Callable[[Function], bool]]
LOOK_UP = "python: a dictionary in place of a search"

RULES: Rules = {
    "python: sorted by the library": sort,
    "python: remembered results": remember,
    "python: dates read once": dates_again,
    LOOK_UP: look_up,
    "python: counts in place of lists": counts_for_lists,
    "python: sets in place of lists": sets_for_lists,
    "python: worked out only if needed": late,
    "python: counted once": count_once,
    "python: sums of parts from sums": sums_of_parts,
    "python: a queue for a list": queue,
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
    "pandas: columns as lists": table_entries,
    "pandas: parts found once": table_parts,
    "python: sizes of unions": sizes_of_unions,
    "python: nested dictionaries": nested_tables,
    "python: divisors up to the root": divisors,
}
LAST_RULES: Rules = {
    "numpy: elements from lists": elements,
    # Of some names more may be asked than elements of lists can do.
    **{
        f"numpy: elements from lists ({number + 1})": functools.partial(elements, only=number)
        for number in range(4)
    },
    "python: distances without roots and powers": distances,
    "python: products in place of powers": products,
    "python: least and greatest by comparisons": least,
    "python: parts looked up once": parts_once,
}
"""After all others, which would not know the code again."""
