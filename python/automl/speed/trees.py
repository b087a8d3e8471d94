"""Looks at the syntax trees of functions, and makes parts of them."""

import ast
from collections.abc import Callable, Iterator

from automl.speed.kept import is_stored

Block = list[ast.stmt]


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


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def stored_in(node: ast.AST) -> set[str]:
    """Names that get another value there, or whose value is changed."""
    changed = {each.id for each in ast.walk(node) if is_stored(each)}
    for each in ast.walk(node):
        target: ast.AST | None = None
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            target = each.func.value
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            target = each.value
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            changed.add(target.id)
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


def loops_of(node: ast.AST) -> list[tuple[Block, int, ast.For | ast.While]]:
    """The loops, outer ones first, with where they stand."""
    return [
        (block, place, each)
        for block in blocks(node)
        for place, each in enumerate(block)
        if isinstance(each, ast.For | ast.While)
    ]
