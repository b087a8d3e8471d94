"""Distances: what takes longer than comparing their squares."""

import ast

from automl.speed.record import Function
from automl.speed.trees import expression, swap

Bound = ast.Name | ast.Constant | ast.Attribute | ast.Subscript
TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def under_root(node: ast.AST) -> ast.expr | None:
    """What a root is of: `x ** 0.5`, `math.sqrt(x)`, `math.hypot(x, y)`."""
    match node:
        case ast.BinOp(inner, ast.Pow(), ast.Constant(value=0.5)):
            return inner
        case ast.Call(ast.Name(id=way) | ast.Attribute(attr=way), given, []):
            if way == "sqrt" and len(given) == 1:
                return given[0]
            if way == "hypot" and len(given) == 2:
                parts = [f"({ast.unparse(each)})" for each in given]
                return expression(" + ".join(f"{part} * {part}" for part in parts))
    return None


def distances(node: Function) -> bool:
    """Products in place of powers, and squares that are compared in place of roots."""
    return products(node) | squares_compared(node)


def squares_compared(node: Function) -> bool:
    """A root that is smaller or larger than something, also under a name for this alone."""
    found = swap(node, lambda each: compared(each, ""))
    for each in [each for each in ast.walk(node) if isinstance(each, ast.Assign)]:
        match each:
            case ast.Assign([ast.Name(id=name)], value) if under_root(value) is not None:
                uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
                tests = sum(compared(test, name) is not None for test in ast.walk(node))
                if tests == uses - 1:
                    each.value = under_root(value)
                    found += swap(node, lambda test, name=name: compared(test, name))
    return found > 0


def compared(node: ast.AST, name: str) -> ast.AST | None:
    """The same comparison of squares: of a root, or of what has this name."""
    match node:
        case ast.Compare(left, [order], [right]) if type(order) in TURNED:
            turned = TURNED[type(order)]()
            for root, way, bound in ((left, order, right), (right, turned, left)):
                is_named = isinstance(root, ast.Name) and root.id == name
                square = root if is_named else None if name else under_root(root)
                if square is not None and isinstance(bound, Bound):
                    return ast.Compare(square, [way], [ast.BinOp(bound, ast.Mult(), bound)])
    return None


def products(node: Function) -> bool:
    """`(a - b) ** 2` as a product of two equal ones."""
    inner = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.Lambda
    found = 0

    def choose(each: ast.AST) -> ast.AST | None:
        nonlocal found
        match each:
            case ast.BinOp(value, ast.Pow(), ast.Constant(value=2)):
                found += 1
                name = f"_square{found}"
                if isinstance(value, ast.Name):
                    return ast.BinOp(value, ast.Mult(), value)
                swap(value, choose)
                once = ast.NamedExpr(ast.Name(name, ast.Store()), value)
                return ast.BinOp(once, ast.Mult(), ast.Name(name, ast.Load()))
        return each if isinstance(each, inner) else None

    swap(node, choose)
    return found > 0
