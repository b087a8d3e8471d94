"""Everyday ways to make plain Python faster; each changes a function in place, if it fits."""

import ast
import copy
from collections.abc import Callable

from automl.speed.kept import is_stored
from automl.speed.record import Function
from automl.speed.rows import table_entries, table_rows
from automl.speed.scalars import (
    lists_for_arrays,
    nested_tables,
    plain_math,
    sizes_of_unions,
    table_parts,
)
from automl.speed.trees import Swap, blocks, expression, lines, loops_of, names_in, stored_in


def remember(node: Function) -> bool:
    """A function that calls itself more than once."""
    calls = [
        c for c in ast.walk(node) if isinstance(c, ast.Call) and ast.unparse(c.func) == node.name
    ]
    if len(calls) > 1:
        node.decorator_list.append(expression("functools.lru_cache(maxsize=None)"))
    return len(calls) > 1


def sets_for_lists(node: Function) -> bool:
    """`x in items` of a list that only grows: a set beside it."""
    tests = [
        each.comparators[0].id
        for each in ast.walk(node)
        if isinstance(each, ast.Compare)
        and isinstance(each.ops[0], ast.In | ast.NotIn)
        and isinstance(each.comparators[0], ast.Name)
    ]
    done = False
    for name in dict.fromkeys(tests):
        twin = f"_{name}_set"
        work = copy.deepcopy(node)

        def choose(each: ast.AST, name: str = name, twin: str = twin) -> ast.AST | None:
            if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.In | ast.NotIn):
                if ast.unparse(each.comparators[0]) == name:
                    return ast.Compare(each.left, each.ops, [ast.Name(twin, ast.Load())])
            return None

        Swap(choose).visit(work)
        for block in list(blocks(work)):
            for place in range(len(block) - 1, -1, -1):
                match block[place]:
                    case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                        block.insert(place + 1, *lines(f"{twin} = set({name})"))
                    case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append") as f, args=[a])):
                        if ast.unparse(f.value) == name:
                            block.insert(place + 1, *lines(f"{twin}.add({ast.unparse(a)})"))
        if name in {each.arg for each in node.args.args}:
            work.body.insert(0, *lines(f"{twin} = set({name})"))
        if twin in {each.id for each in ast.walk(work) if is_stored(each)}:
            node.body, done = work.body, True
    return done


def count_once(node: Function) -> bool:
    """`items.count(x)` in a loop: all are counted before it."""
    for block, place, loop in loops_of(node):
        counted = {
            c.func.value.id
            for c in ast.walk(loop)
            if isinstance(c, ast.Call)
            and isinstance(c.func, ast.Attribute)
            and c.func.attr == "count"
            and isinstance(c.func.value, ast.Name)
        }
        for name in counted:

            def choose(each: ast.AST, name: str = name) -> ast.AST | None:
                if isinstance(each, ast.Call) and ast.unparse(each.func) == f"{name}.count":
                    return expression(f"_{name}_counts[{ast.unparse(each.args[0])}]")
                return None

            Swap(choose).visit(loop)
            block.insert(place, *lines(f"_{name}_counts = collections.Counter({name})"))
            return True
    return False


def queue(node: Function) -> bool:
    """`items.pop(0)` of a list that begins here."""
    popped = {
        ast.unparse(c.func.value)
        for c in ast.walk(node)
        if isinstance(c, ast.Call) and ast.unparse(c).endswith(".pop(0)")
    }

    def choose(each: ast.AST) -> ast.AST | None:
        if isinstance(each, ast.Call) and ast.unparse(each).endswith(".pop(0)"):
            return ast.Call(ast.Attribute(each.func.value, "popleft", ast.Load()), [], [])
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) in popped:
            return ast.Assign(
                each.targets, ast.Call(expression("collections.deque"), [each.value], [])
            )
        return None

    if popped:
        Swap(choose).visit(node)
    return bool(popped)


def look_up(node: Function) -> bool:
    """A loop inside of a loop that looks for equal ones: a dictionary of them, made before."""
    for block, place, outer in loops_of(node):
        for _, _, inner in loops_of(outer):
            if (
                inner is outer
                or not isinstance(inner, ast.For)
                or not isinstance(inner.target, ast.Name)
            ):
                continue
            tests = (
                [inner.body[0].test]
                if len(inner.body) == 1 and isinstance(inner.body[0], ast.If)
                else []
            )
            tests = [
                *tests,
                *(t for test in tests if isinstance(test, ast.BoolOp) for t in test.values),
            ]
            own = stored_in(outer)
            for test in tests:
                if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
                    continue
                sides = [test.left, test.comparators[0]]
                for one, other in (sides, sides[::-1]):
                    varying = names_in(one) & own
                    if varying != {inner.target.id} or inner.target.id in names_in(other):
                        continue
                    if names_in(inner.iter) & own:
                        continue
                    each = ast.unparse(inner.target)
                    index = f"_by_{each}"
                    before = lines(
                        f"{index} = {{}}\nfor {each} in {ast.unparse(inner.iter)}:\n"
                        f"    {index}.setdefault({ast.unparse(one)}, []).append({each})"
                    )
                    inner.iter = expression(f"{index}.get({ast.unparse(other)}, ())")
                    block[place:place] = before
                    return True
    return False


def running_sums(node: Function) -> bool:
    """`sum(items[a:b])` in a loop or a comprehension: differences of running sums."""
    for block in blocks(node):
        for place, statement in enumerate(block):
            summed = [
                c
                for c in ast.walk(statement)
                if isinstance(c, ast.Call)
                and ast.unparse(c.func) == "sum"
                and isinstance(c.args[0], ast.Subscript)
                and isinstance(c.args[0].slice, ast.Slice)
                and isinstance(c.args[0].value, ast.Name)
            ]
            has_loop = isinstance(statement, ast.For | ast.While) or any(
                isinstance(n, ast.comprehension) for n in ast.walk(statement)
            )
            names = {c.args[0].value.id for c in summed} - stored_in(statement)
            if not names or not has_loop:
                continue
            name = sorted(names)[0]

            def choose(
                each: ast.AST, name: str = name, summed: list[ast.Call] = summed
            ) -> ast.AST | None:
                if each not in summed or each.args[0].value.id != name:
                    return None
                part = each.args[0].slice
                lower = ast.unparse(part.lower) if part.lower else "0"
                upper = ast.unparse(part.upper) if part.upper else "-1"
                return expression(f"(_{name}_sums[{upper}] - _{name}_sums[{lower}])")

            block[place] = Swap(choose).visit(statement)
            block.insert(place, *lines(f"_{name}_sums = [0, *itertools.accumulate({name})]"))
            return True
    return False


def hoist(node: Function) -> bool:
    """Calls in a loop that give the same in every round: made before it."""
    pure = {
        "max",
        "min",
        "sum",
        "sorted",
        "set",
        "len",
        "math.sqrt",
        "math.log",
        "math.exp",
        "range",
    }
    count = sum(name.startswith("_same") for name in names_in(node))
    for block, place, loop in loops_of(node):
        own = stored_in(loop)
        found = [
            c
            for s in loop.body
            for c in ast.walk(s)
            if isinstance(c, ast.Call)
            and (
                ast.unparse(c.func) in pure - {"len", "range"}
                or ast.unparse(c.func).startswith("np.")
            )
            and "random" not in ast.unparse(c.func)
            and not names_in(c) & own
            and not any(isinstance(n, ast.comprehension) for n in ast.walk(c))
        ]
        if found:
            text = ast.unparse(found[0])

            def choose(each: ast.AST, text: str = text) -> ast.AST | None:
                is_it = isinstance(each, ast.Call) and ast.unparse(each) == text
                return ast.Name(f"_same{count}", ast.Load()) if is_it else None

            block[place] = Swap(choose).visit(loop)
            block.insert(place, *lines(f"_same{count} = {text}"))
            return True
    return False


def divisors(node: Function) -> bool:
    """A search for a divisor ends at the root."""
    for _, _, loop in loops_of(node):
        match loop:
            case ast.For(
                iter=ast.Call(func=ast.Name(id="range"), args=[_, ast.Name(id=n) as stop])
            ):
                tests = [
                    t
                    for t in ast.walk(loop)
                    if isinstance(t, ast.BinOp) and isinstance(t.op, ast.Mod)
                ]
                if any(ast.unparse(t.left) == n for t in tests):
                    loop.iter.args[1] = expression(f"math.isqrt({ast.unparse(stop)}) + 1")
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


Rules = dict[str, Callable[[Function], bool]]

RULES: Rules = {
    "python: sorted by the library": sort,
    "python: remembered results": remember,
    "python: a dictionary in place of a search": look_up,
    "python: sets in place of lists": sets_for_lists,
    "python: counted once": count_once,
    "python: a queue": queue,
    "python: running sums": running_sums,
    "pandas: rows as dictionaries": table_rows,
    "pandas: columns as lists": table_entries,
    "pandas: parts found once": table_parts,
    "python: sizes of unions": sizes_of_unions,
    "python: nested dictionaries": nested_tables,
    "python: divisors up to the root": divisors,
    "python: worked out before the loop": hoist,
}

# For loops that whole arrays could not take the place of.
LAST_RULES: Rules = {
    "numpy: lists in a loop": lists_for_arrays,
    "numpy: functions of single numbers": plain_math,
}
