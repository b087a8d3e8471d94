"""Tests of whether something is in a list, which read all of it."""

import ast
from collections import defaultdict

from automl.speed.record import Function
from automl.speed.trees import blocks, expression, lines, swap

OTHER_CHANGES = ("remove", "pop", "insert", "extend", "clear", "popleft")
"""What a set beside a list does not see."""


def memberships(node: Function) -> dict[str, list[ast.Compare]]:
    """By the name of the list."""
    tests = defaultdict[str, list[ast.Compare]](list)
    for each in ast.walk(node):
        match each:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                tests[name].append(each)
    return tests


def counts_for_lists(node: Function) -> bool:
    """Copies of lists, for `x in items` and `items.remove(x)` alone: how often each is left."""
    copies, uses = dict[str, ast.Call](), defaultdict[str, int](int)
    taken = defaultdict[str, int](int)
    for each in ast.walk(node):
        match each:
            case ast.Assign([ast.Name(id=name)], ast.Call(ast.Name("list"), [_], []) as copy):
                copies[name] = copy
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "remove"), [_], [])):
                taken[name] += 1
            case ast.Name(id=name):
                uses[name] += 1
    tests = memberships(node)
    chosen = {name for name in copies if uses[name] == 1 + len(tests[name]) + taken[name] > 1}

    def choose(each: ast.AST) -> ast.AST | None:
        match each:
            case ast.Compare(one, [ast.In() | ast.NotIn() as way], [ast.Name(id=name)]) if (
                name in chosen
            ):
                sign = ">" if isinstance(way, ast.In) else "=="
                return expression(f"{name}[{ast.unparse(one)}] {sign} 0")
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "remove"), [one])) if (
                name in chosen
            ):
                return lines(f"{name}[{ast.unparse(one)}] -= 1")[0]
        return None

    for name in chosen:
        copies[name].func = expression("collections.Counter")
    return swap(node, choose) > 0


def sets_for_lists(node: Function) -> bool:
    """`x in items` of lists that only grow: sets beside them."""
    shrinking = {
        each.value.id
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
        if each.attr in OTHER_CHANGES
    }
    tests = {name: told for name, told in memberships(node).items() if name not in shrinking}
    parameters = {each.arg for each in node.args.args}
    begun = {name for name in tests if name in parameters}
    for block in list(blocks(node)):
        for place in range(len(block) - 1, -1, -1):
            match block[place]:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in tests:
                    if not isinstance(value, ast.Dict | ast.Set):
                        block[place + 1 : place + 1] = lines(f"_{name}_set = set({name})")
                        begun.add(name)
    for block in list(blocks(node)):
        for place in range(len(block) - 1, -1, -1):
            match block[place]:
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "append"), [item])) if (
                    name in begun
                ):
                    block[place + 1 : place + 1] = lines(f"_{name}_set.add({ast.unparse(item)})")
    for name in begun:
        node.body[:0] = lines(f"_{name}_set = set({name})") if name in parameters else []
        for test in tests[name]:
            test.comparators = [ast.Name(f"_{name}_set", ast.Load())]
    return bool(begun)
