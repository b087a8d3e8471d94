"""Lists in place of arrays where loops look at single elements, which are slow to get of arrays."""

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from automl.speed.record import Function
from automl.speed.trees import Block, Loop, blocks, is_stored, lines, names_in, swap

ENDING = "_rows"
GOING = ("enumerate", "zip", "reversed")


class Place(NamedTuple):
    """An outermost loop that uses elements of a name."""

    block: Block
    at: int
    name: str
    is_changed: bool


def elements(node: Function, only: int | None = None) -> bool:
    """All names that fit, or the one in this place."""
    found = list(places(node))
    chosen = found if only is None else found[only : only + 1]
    # From the end, so that places stay true.
    for block, at, name, is_changed in reversed(chosen):
        rows = f"_{name}{ENDING}"
        loop = next(each for each in block[at:] if isinstance(each, Loop))
        for inner in [each for each in ast.walk(loop) if isinstance(each, ast.For)]:
            for owner, field in iterated(inner, name):
                put_name(owner, field, rows)
        swap(loop, functools.partial(in_rows, name=name, rows=rows))
        # What is no array stays as it is.
        block[at:at] = lines(f'{rows} = getattr({name}, "tolist", lambda: {name})()')
        if is_changed:
            place = block.index(loop)
            block[place + 1 : place + 1] = lines(f"{name}[...] = {rows}")
    return bool(chosen)


def places(node: Function) -> Iterator[Place]:
    loops = [each for each in ast.walk(node) if isinstance(each, Loop)]
    inner = {id(each) for loop in loops for each in ast.walk(loop) if each is not loop}
    for block in blocks(node):
        for at, loop in enumerate(block):
            if not isinstance(loop, Loop) or id(loop) in inner:
                continue
            own = {each.id for each in ast.walk(loop) if is_stored(each)}
            for name in sorted(names_in(loop) - own):
                is_changed = changes(loop, name)
                if not name.endswith(ENDING) and is_changed is not None:
                    yield Place(block, at, name, is_changed)


def changes(loop: Loop, name: str) -> bool | None:
    """
    Whether elements of a name get other values. None if it does not fit: no elements are used, or
    they are changed while more of the name is used than its length, or the loop may not end.
    """
    every = list(ast.walk(loop))
    uses = [each for each in every if isinstance(each, ast.Subscript) and is_element(each, name)]
    gone = [found for each in every if isinstance(each, ast.For) for found in iterated(each, name)]
    if not uses and not gone:
        return None
    if not any(isinstance(each.ctx, ast.Store) for each in uses):
        return False
    lengths = sum(
        isinstance(each, ast.Call | ast.Attribute)
        and ast.unparse(each) in (f"len({name})", f"{name}.shape")
        for each in every
    )
    mentions = sum(isinstance(each, ast.Name) and each.id == name for each in every)
    ends = any(isinstance(each, ast.Return | ast.Yield | ast.Raise) for each in every)
    return True if mentions == len(uses) + lengths and not ends else None


def is_element(node: ast.Subscript, name: str) -> bool:
    """`name[i]` or `name[i, j]`, as far as can be seen."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    is_name = isinstance(node.value, ast.Name) and node.value.id == name
    return is_name and not any(isinstance(part, ast.Slice) for part in parts)


def iterated(loop: ast.For, name: str) -> list[tuple[ast.AST, int | None]]:
    """Where a loop goes over a name: its owner, and its place among the arguments of a call."""
    match loop.iter:
        case ast.Name(id=found) if found == name:
            return [(loop, None)]
        case ast.Call(func=ast.Name(id=going), args=args) if going in GOING:
            return [
                (loop.iter, place)
                for place, each in enumerate(args)
                if isinstance(each, ast.Name) and each.id == name
            ]
    return []


def put_name(owner: ast.AST, place: int | None, name: str) -> None:
    new = ast.Name(name, ast.Load())
    match owner:
        case ast.For():
            owner.iter = new
        case ast.Call(args=args) if place is not None:
            args[place] = new


def in_rows(node: ast.AST, name: str, rows: str) -> ast.AST | None:
    """The same element of the list of lists."""
    if not isinstance(node, ast.Subscript) or not is_element(node, name):
        return None
    *outer, last = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    value: ast.expr = ast.Name(rows, ast.Load())
    for part in outer:
        value = ast.Subscript(value, part, ast.Load())
    return ast.Subscript(value, last, node.ctx)
