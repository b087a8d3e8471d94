"""Small questions about loops and subscripts."""

import ast
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Kept:
    """A loop that stays, since its rounds need each other; outer ones are done together."""

    names: dict[str, str] = field(default_factory=dict)
    ended: str = ""


def depth_of(node: ast.AST) -> int:
    own = int(isinstance(node, ast.For) and not is_kept(node))
    return own + max((depth_of(each) for each in ast.iter_child_nodes(node)), default=0)


def is_kept(loop: ast.For) -> bool:
    """Ends early: its rounds are done one after the other."""
    inner = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.For | ast.While)]
    own = {b for n in inner for b in ast.walk(n) if isinstance(b, ast.Break)}
    breaks = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Break)]
    return any(each not in own for each in breaks) or getattr(loop, "stays", False)


def is_range(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def is_plain(node: ast.AST) -> bool:
    one = isinstance(node, ast.Assign) and len(node.targets) == 1
    return one and isinstance(node.targets[0], ast.Name)


def is_none_check(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is)


def chain(node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """`a[i][j, k]` as `a` and its subscripts."""
    index: list[Any] = []
    while isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [*parts, *index]
        node = node.value
    return node, index
