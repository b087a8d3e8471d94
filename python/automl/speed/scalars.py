"""Loops that stay loops: their data in forms that Python reads faster."""

import ast
import copy

from automl.speed.record import Function
from automl.speed.trees import Swap, blocks, expression, lines, loops_of, names_in, stored_in

OF_NUMBERS = ("sqrt", "exp", "log", "sin", "cos", "tanh", "hypot", "arctan2", "abs")


def lists_for_arrays(node: Function) -> bool:
    """Parameters that a loop reads number by number: lists, which give numbers of Python."""
    parameters = {each.arg for each in node.args.args} - stored_in(node)
    read: set[str] = set()

    def choose(each: ast.AST) -> ast.AST | None:
        match each:
            case ast.Subscript(value=ast.Name(id=name), slice=place) if name in parameters:
                places = place.elts if isinstance(place, ast.Tuple) else [place]
                if any(
                    isinstance(one, ast.Slice | ast.Constant | ast.Starred) for one in places[:1]
                ):
                    return None
                if any(isinstance(one, ast.Slice) for one in places):
                    return None
                read.add(name)
                at = "".join(f"[{ast.unparse(Swap(choose).visit(one))}]" for one in places)
                return expression(f"_{name}_list{at}")
        return None

    for _, _, loop in loops_of(node):
        for statement in loop.body:
            Swap(choose).visit(statement)
    node.body[:0] = [
        line for name in sorted(read) for line in lines(f"_{name}_list = {name}.tolist()")
    ]
    return bool(read)


def plain_math(node: Function) -> bool:
    """Functions of numpy on single numbers."""
    names = {"arctan2": "math.atan2", "abs": "abs"}

    def choose(each: ast.AST) -> ast.AST | None:
        match each:
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in OF_NUMBERS:
                return expression(names.get(name, f"math.{name}"))
        return None

    swap = Swap(choose)
    for _, _, loop in loops_of(node):
        swap.visit(loop)
    return swap.count > 0


def sizes_of_unions(node: Function) -> bool:
    """`len(a | b)` of sets, from the size of their intersection."""
    unions = {
        each.targets[0].id: each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Name)
        and isinstance(each.value, ast.BinOp)
        and isinstance(each.value.op, ast.BitOr)
    }
    uses = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    for name, union in unions.items():
        one, other = ast.unparse(union.left), ast.unparse(union.right)

        def choose(each: ast.AST, name: str = name) -> ast.AST | None:
            is_size = isinstance(each, ast.Call) and ast.unparse(each) == f"len({name})"
            return expression(f"_{name}_size") if is_size else None

        work = copy.deepcopy(node)
        swap = Swap(choose)
        swap.visit(work)
        if swap.count != uses.count(name) - 1:
            continue
        both = f"_{name}_both"

        def shared(
            each: ast.AST, one: str = one, other: str = other, both: str = both
        ) -> ast.AST | None:
            is_size = isinstance(each, ast.Call) and ast.unparse(each) in (
                f"len({one} & {other})",
                f"len({other} & {one})",
            )
            return expression(both) if is_size else None

        Swap(shared).visit(work)
        for block in blocks(work):
            for place, statement in enumerate(block):
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
                    block[place : place + 1] = lines(
                        f"{both} = len({one} & {other})\n"
                        f"_{name}_size = len({one}) + len({other}) - {both}"
                    )
        node.body = work.body
        return True
    return False


def nested_tables(node: Function) -> bool:
    """A dictionary by pairs: one of dictionaries."""
    made = {
        each.targets[0].id
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Name)
        and ast.unparse(each.value) in ("{}", "dict()")
    }
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    for name in made:
        uses: list[ast.Subscript] = [
            each
            for each in ast.walk(node)
            if isinstance(each, ast.Subscript)
            and ast.unparse(each.value) == name
            and isinstance(each.slice, ast.Tuple)
            and len(each.slice.elts) == 2
        ]
        if not uses or len(uses) != names.count(name) - 1:
            continue

        def choose(
            each: ast.AST, name: str = name, uses: list[ast.Subscript] = uses
        ) -> ast.AST | None:
            if each in uses:
                row = ast.Subscript(each.value, Swap(choose).visit(each.slice.elts[0]), ast.Load())
                return ast.Subscript(row, Swap(choose).visit(each.slice.elts[1]), each.ctx)
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name:
                return ast.Assign(each.targets, expression("collections.defaultdict(dict)"))
            return None

        Swap(choose).visit(node)
        return True
    return False


def table_parts(node: Function) -> bool:
    """`table[table[column] == value]` in a loop: the parts of the table are found once."""
    for block, place, loop in loops_of(node):
        own = {name for statement in loop.body for name in stored_in(statement)}
        if isinstance(loop, ast.For):
            own |= names_in(loop.target)
        for each in ast.walk(loop):
            match each:
                case ast.Subscript(
                    value=ast.Name(id=table),
                    slice=ast.Compare(
                        left=ast.Subscript(
                            value=ast.Name(id=again), slice=ast.Constant() as column
                        ),
                        ops=[ast.Eq()],
                        comparators=[value],
                    ),
                ) if table == again and table not in own and names_in(value) & own:
                    text, key = ast.unparse(each), ast.unparse(value)
                    parts = f"_{table}_parts"
                    part = expression(f"{parts}.get({key}, {table}.iloc[:0])")

                    def choose(
                        one: ast.AST, text: str = text, part: ast.expr = part
                    ) -> ast.AST | None:
                        is_it = isinstance(one, ast.Subscript) and ast.unparse(one) == text
                        return part if is_it else None

                    Swap(choose).visit(loop)
                    block.insert(
                        place,
                        *lines(f"{parts} = dict(list({table}.groupby({ast.unparse(column)})))"),
                    )
                    return True
    return False
