"""Tests of whether something is in a list, which read all of it."""

import ast
from collections import defaultdict

from automl.speed.record import Function
from automl.speed.trees import blocks, lines

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
