"""Lists in place of arrays where loops look at single elements, which are slow to get of arrays."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from automl.speed.record import Function
from automl.speed.trees import Block, Loop, blocks, is_stored, lines, names_in

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
        use_rows(loop, name, rows)
        # What is no array stays as it is.
        block[at:at] = lines(f'{rows} = getattr({name}, "tolist", lambda: {name})()')
        if is_changed:
            place = block.index(loop)
            block[place + 1 : place + 1] = lines(f"{name}[...] = {rows}")
    return bool(chosen)


def use_rows(loop: Loop, name: str, rows: str) -> None:
    """The list of lists takes the place of the array where elements are used, or all of them."""
    for each in list(ast.walk(loop)):
        if isinstance(each, ast.For):
            for used in iterated(each, name):
                used.id = rows
        elif isinstance(each, ast.Subscript) and is_element(each, name):
            *outer, each.slice = parts_of_index(each)
            each.value = ast.Name(rows, ast.Load())
            for part in outer:
                each.value = ast.Subscript(each.value, part, ast.Load())


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
                if not name.startswith("_") and is_changed is not None:
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


def parts_of_index(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_element(node: ast.Subscript, name: str) -> bool:
    """`name[i]` or `name[i, j]`, as far as can be seen."""
    is_name = isinstance(node.value, ast.Name) and node.value.id == name
    return is_name and not any(isinstance(part, ast.Slice) for part in parts_of_index(node))


def iterated(loop: ast.For, name: str) -> list[ast.Name]:
    """Where a loop goes over a name, alone or with others."""
    match loop.iter:
        case ast.Call(func=ast.Name(id=going), args=args) if going in GOING:
            over = args
        case _:
            over = [loop.iter]
    return [each for each in over if isinstance(each, ast.Name) and each.id == name]
