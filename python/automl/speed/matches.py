"""Searches for what is equal to something, in loops: a dictionary of what there is, made before."""

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

from automl.speed.record import Function, Unit
from automl.speed.trees import (
    Block,
    blocks,
    expression,
    is_stored,
    lines,
    names_in,
    stored_in,
    swap,
)

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Guards = dict[str, tuple[list[str], list[ast.expr]]]
"""By the name of a function: its parameters, and what is equal whenever it says yes."""


class Search(NamedTuple):
    target: ast.expr
    iter: ast.expr
    tests: list[ast.expr]
    """All of which hold for what the search has an effect on."""
    node: ast.For | ast.comprehension


def guards_of(units: list[Unit]) -> Guards:
    """Functions that say no where something differs: at once, or in all that they return."""
    found: Guards = {}
    for unit in units:
        body = [each for each in unit.node.body if not is_text(each)]
        tests: list[ast.expr] = []
        while body and (test := left_by(body[0])) is not None:
            tests += denied(test)
            body = body[1:]
        match body:
            case [ast.Return(value=ast.expr() as value)]:
                tests += parts_of(value)
        if tests and not unit.owner:
            found[unit.name] = ([each.arg for each in unit.node.args.args], tests)
    return found


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def left_by(statement: ast.stmt) -> ast.expr | None:
    """The test of `if test: return False` or `if test: continue`."""
    match statement:
        case ast.If(test=test, body=[ast.Return(ast.Constant(value=value))], orelse=[]):
            return None if value else test
        case ast.If(test=test, body=[ast.Continue() | ast.Return(None)], orelse=[]):
            return test
    return None


def denied(test: ast.expr) -> list[ast.expr]:
    """What holds if a test does not."""
    match test:
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
            return [ast.Compare(left, [ast.Eq()], [right])]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return parts_of(operand)
        case ast.BoolOp(op=ast.Or(), values=values):
            return [part for value in values for part in denied(value)]
    return []


def parts_of(test: ast.expr) -> list[ast.expr]:
    """What holds if a test does."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in parts_of(value)]
    return [test]


def look_up(node: Function, guards: Guards | None = None) -> bool:
    for block, place, outer in outers(node):
        own = stored_in(outer)
        for search in searches(outer):
            each = {name.id for name in ast.walk(search.target) if isinstance(name, ast.Name)}
            for test in with_guards(search.tests, guards or {}):
                match test:
                    case ast.Compare(left=key, ops=[ast.Eq()], comparators=[wanted]):
                        if each & names_in(wanted):
                            key, wanted = wanted, key
                        is_key = each & names_in(key) and not names_in(key) & (own - each)
                        whole = None
                        if is_key and not each & names_in(wanted):
                            whole = use(search, wanted, own)
                        if whole is not None:
                            block[place:place] = index_of(search, whole, key)
                            return True
    return False


def outers(node: Function) -> Iterator[tuple[Block, int, ast.AST]]:
    """Loops, and comprehensions with others in them, with the statements that they are in."""
    for block in list(blocks(node)):
        for place, statement in enumerate(block):
            if isinstance(statement, ast.For | ast.While):
                yield block, place, statement
            elif isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
                inner = [each for each in ast.walk(statement) if isinstance(each, Comprehension)]
                if len(inner) > 1:
                    yield block, place, inner[0]


def searches(outer: ast.AST) -> Iterator[Search]:
    for node in ast.walk(outer):
        match node:
            case ast.For() if node is not outer:
                yield Search(node.target, node.iter, tests_in(node), node)
            case ast.comprehension() if node not in getattr(outer, "generators", []):
                tests = [part for test in node.ifs for part in parts_of(test)]
                yield Search(node.target, node.iter, tests, node)


def tests_in(loop: ast.For) -> list[ast.expr]:
    """What a round of a loop has no effect without; names that it gives values are written out."""
    tests: list[ast.expr] = []
    values: dict[str, ast.expr] = {}

    def written_out(test: ast.expr) -> ast.expr:
        whole = ast.Expr(copy.deepcopy(test))
        swap(whole, lambda n: values.get(n.id) if isinstance(n, ast.Name) else None)
        return whole.value

    for statement in loop.body:
        match statement:
            case ast.Assign([ast.Name(id=name)], value=value):
                values[name] = written_out(value)
                continue
            case ast.If(test=test, orelse=[]) if statement is loop.body[-1]:
                tests += parts_of(written_out(test))
        test = left_by(statement)
        if test is None or isinstance(statement.body[0], ast.Return):
            break
        tests += denied(written_out(test))
    return tests


def with_guards(tests: list[ast.expr], guards: Guards) -> Iterator[ast.expr]:
    for test in tests:
        yield from parts_of(test)
        match test:
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in guards:
                parameters, wanted = guards[name]
                values = dict(zip(parameters, given, strict=False))
                for each in wanted:
                    whole = ast.Expr(copy.deepcopy(each))
                    swap(
                        whole,
                        lambda n, v=values: v.get(n.id) if isinstance(n, ast.Name) else None,
                    )
                    yield whole.value


def use(search: Search, wanted: ast.expr, own: set[str]) -> ast.expr | None:
    """
    Reads from the dictionary; returns what it is made of, or nothing if that changes with the loop
    around.
    """
    whole, found = search.iter, f"{name_of(search)}.get({ast.unparse(wanted)}, ())"
    match whole:
        case ast.Call(func=ast.Name(id="range"), args=[start, end]) if names_in(start) & own:
            name = ast.unparse(search.target)
            found = f"[{name} for {name} in {found} if {name} >= {ast.unparse(start)}]"
            whole = expression(f"range({ast.unparse(end)})")
    if names_in(whole) & own:
        return None
    search.node.iter = expression(found)
    return whole


def index_of(search: Search, whole: ast.expr, key: ast.expr) -> Block:
    each, index = ast.unparse(search.target), name_of(search)
    return lines(
        f"{index} = {{}}\nfor {each} in {ast.unparse(whole)}:\n"
        f"    {index}.setdefault({ast.unparse(key)}, []).append(({each}))"
    )


def name_of(search: Search) -> str:
    return "_by_" + "_".join(each.id for each in ast.walk(search.target) if is_stored(each))
