"""Looks at the syntax trees of functions, and changes parts of them."""

import ast
from collections.abc import Callable, Iterator

Block = list[ast.stmt]
Loop = ast.For | ast.While


def lines(text: str) -> Block:
    return ast.parse(text).body


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def blocks(node: ast.AST) -> Iterator[Block]:
    for each in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(each, field, None)
            if isinstance(block, list):
                yield block


def loops_of(node: ast.AST) -> list[tuple[Block, int, Loop]]:
    """The loops, outer ones first, with where they stand."""
    return [
        (block, place, each)
        for block in blocks(node)
        for place, each in enumerate(block)
        if isinstance(each, Loop)
    ]


def always(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a statement or an expression that are always worked out."""
    match node:
        case ast.If(test=part) | ast.IfExp(test=part) | ast.For(iter=part) | ast.While(test=part):
            parts = [part]
        case ast.BoolOp(values=[part, *_]):
            parts = [part]
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            parts = []
        case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.expr():
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        case _:
            parts = []
    for part in parts:
        yield part
        yield from always(part)


def is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def stored_in(node: ast.AST) -> set[str]:
    """Names that get another value there, or whose value is changed."""
    changed = {each.id for each in ast.walk(node) if is_stored(each)}
    for each in ast.walk(node):
        match each:
            case (
                ast.Call(func=ast.Attribute(value=target))
                | ast.Subscript(value=target, ctx=ast.Store())
                | ast.Attribute(value=target, ctx=ast.Store())
            ):
                while isinstance(target, ast.Subscript | ast.Attribute):
                    target = target.value
                changed |= {target.id} if isinstance(target, ast.Name) else set()
    return changed


class Swap(ast.NodeTransformer):
    """Puts something else in the place of what a function picks out."""

    def __init__(self, choose: Callable[[ast.AST], ast.AST | None]) -> None:
        self.choose, self.count = choose, 0

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.choose(node)
        if new is None:
            return self.generic_visit(node)
        self.count += 1
        return new


def swap(node: ast.AST, choose: Callable[[ast.AST], ast.AST | None]) -> int:
    """Changes a tree in place; returns how many parts of it are new."""
    swapping = Swap(choose)
    swapping.generic_visit(node)
    return swapping.count


def put(node: ast.AST, old: str, new: str) -> int:
    """Writes another expression wherever one stands; returns how many there were."""

    def choose(each: ast.AST) -> ast.AST | None:
        is_it = isinstance(each, ast.expr) and ast.unparse(each) == old
        return expression(new) if is_it else None

    return swap(node, choose)
