"""What an expression in a nest of loops is for all rounds together, as code for numpy."""

import ast
import functools
from typing import Any

from automl.speed.record import Unit
from automl.speed.trees import names_in

try:
    import numpy as np
except ImportError:
    np = None

FUNCTIONS = {
    **{"float": "np.asarray({}, float)", "int": "np.trunc({}).astype(int)"},
    **{"bool": "np.asarray({}, bool)", "complex": "({} + 1j * {})"},
    **{"math.floor": "np.floor({}).astype(int)", "math.ceil": "np.ceil({}).astype(int)"},
}
SIGNS: dict[type, str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"},
    **{ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
    **{ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
UFUNCS = {
    **{"min": "minimum", "max": "maximum", "pow": "power", "asin": "arcsin", "acos": "arccos"},
    **{"atan": "arctan", "atan2": "arctan2"},
}
OF_VECTORS = ("mean", "min", "max", "prod", "std", "var", "median", "argmin", "argmax")


class UnfitError(Exception):
    """It cannot be said with whole arrays, or not by this program."""


class Expressions:
    """The names of a nest, and the lines that come in its place. See helpers.py for the arrays."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.names: dict[str, str] = {}
        """The code for each name that has a value in the nest."""
        self.arrays: dict[str, str] = {}
        """Names of arrays from outside of the nest, by what they are there."""
        self.head: dict[str, str] = {}
        """How these are made, by name."""
        self.lists: dict[str, str] = {}
        """Lists that are written to, by their arrays' names."""
        self.lines: list[str] = []
        self.mask = "True"
        self.rank = self.indent = self.count = 0

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self) -> str:
        self.count += 1
        return f"_v{self.count}"

    def store(self, code: str) -> str:
        if code.isidentifier():
            return code
        name = self.fresh()
        self.emit(f"{name} = {code}")
        return name

    def shape(self) -> str:
        raise NotImplementedError

    # What is outside of the nest

    def is_outside(self, node: ast.AST) -> bool:
        return not names_in(node) & self.names.keys()

    def observed(self, node: ast.expr) -> Any:
        """What an expression was at the end of a call; None where nobody knows."""
        if any(isinstance(each, ast.Call) for each in ast.walk(node)):
            return None
        try:
            return eval(ast.unparse(node), {**self.unit.globals, **self.unit.seen})
        except Exception:
            return None

    def array(self, node: ast.expr, is_written: bool = False) -> str | None:
        """The name of a list or array from outside of the nest; None if it is something else."""
        text, seen = ast.unparse(node), self.observed(node)
        if isinstance(seen, str):
            text, seen = f"list({text})", list(seen)
        if not isinstance(seen, list | tuple | np.ndarray) or np.ndim(seen) == 0:
            return None
        kind = np.asarray(seen).dtype
        if kind.kind not in "biufcU":
            raise UnfitError(f"{text} holds something else")
        name = self.arrays.setdefault(text, f"_a{len(self.arrays)}")
        if isinstance(seen, np.ndarray):
            made = text
        elif is_written or name in self.lists:
            # It may begin with other numbers than it ends with.
            made = f"np.array({text}, np.{kind.type.__name__})"
            self.lists[name] = text
        else:
            made = f"np.array({text})"
        self.head[name] = f"_whole({made}, {self.rank})"
        return name

    # Expressions

    def value(self, node: ast.expr) -> str:
        if self.is_outside(node):
            text = ast.unparse(node)
            is_short = isinstance(node, ast.Name | ast.Constant)
            return self.array(node) or (text if is_short else f"({text})")
        match node:
            case ast.Name(id=name):
                return self.names[name]
            case ast.Attribute(attr="real" | "imag" as part):
                return f"{self.value(node.value)}.{part}"
            case ast.BinOp(op=ast.MatMult()):
                return self.total(ast.BinOp(node.left, ast.Mult(), node.right))
            case ast.BinOp() if type(node.op) in SIGNS:
                return f"({self.value(node.left)} {SIGNS[type(node.op)]} {self.value(node.right)})"
            case ast.UnaryOp() if type(node.op) in SIGNS:
                return f"({SIGNS[type(node.op)]}{self.value(node.operand)})"
            case ast.UnaryOp():
                return f"np.logical_not({self.value(node.operand)})"
            case ast.BoolOp(values=[first, *others]):
                name = "and" if isinstance(node.op, ast.And) else "or"
                code = self.value(first)
                for each in others:
                    code = f"np.logical_{name}({code}, {self.value(each)})"
                return code
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp():
                parts = [self.value(each) for each in (node.test, node.body, node.orelse)]
                return f"np.where({', '.join(parts)})"
            case ast.Subscript():
                base, places = self.places(node)
                return f"_at({self.value(base)}, {self.rank}, {places})"
            case ast.Call():
                return self.call(node)
        raise UnfitError(ast.unparse(node))

    def comparison(self, node: ast.Compare) -> str:
        pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        parts = []
        for left, op, right in pairs:
            if isinstance(op, ast.In) and isinstance(right, ast.Tuple | ast.List):
                equal = [ast.Compare(left, [ast.Eq()], [each]) for each in right.elts]
                parts.append(self.value(ast.BoolOp(ast.Or(), equal)))
            elif type(op) in SIGNS:
                parts.append(f"({self.value(left)} {SIGNS[type(op)]} {self.value(right)})")
            else:
                raise UnfitError(ast.unparse(node))
        return f"({' & '.join(parts)})"

    def places(self, node: ast.Subscript) -> tuple[ast.expr, str]:
        """`a[i][j, k:]` as `a` and the code of its subscripts."""
        base: ast.expr = node
        parts: list[ast.expr] = []
        while isinstance(base, ast.Subscript) and not any(isinstance(p, ast.Slice) for p in parts):
            own = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            if parts and any(isinstance(each, ast.Slice) for each in own):
                break
            base, parts = base.value, [*own, *parts]
        return base, ", ".join(self.place(each) for each in parts)

    def place(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Slice):
            return self.value(node)
        bounds = (node.lower, node.upper, node.step)
        return f"slice({', '.join(self.value(each) if each else 'None' for each in bounds)})"

    # Calls

    def call(self, node: ast.Call) -> str:
        name, args = ast.unparse(node.func), node.args
        first, _, last = name.rpartition(".")
        if isinstance(node.func, ast.Attribute) and not self.is_outside(node.func):
            first, args = "np", [node.func.value, *args]
        if node.keywords or not args or first not in ("", "np", "numpy", "math", "np.linalg"):
            raise UnfitError(name)
        if last == "dot":
            return self.total(ast.BinOp(args[0], ast.Mult(), args[1]))
        if last == "sum":
            return self.total(args[0])
        if last == "norm":
            return f"np.sqrt({self.total(ast.BinOp(args[0], ast.Pow(), ast.Constant(2)))})"
        codes = [self.value(each) for each in args]
        if last == "len":
            return f"_length({codes[0]}, {self.rank})"
        if last in OF_VECTORS and len(codes) == 1:
            return f"_over(np.{last}, {codes[0]}, {self.rank})"
        if name in FUNCTIONS:
            return FUNCTIONS[name].format(*codes)
        known = UFUNCS.get(last, last)
        if last in ("min", "max"):
            return functools.reduce(lambda one, other: f"np.{known}({one}, {other})", codes)
        if isinstance(getattr(np, known, None), np.ufunc) or known in ("where", "round", "clip"):
            return f"np.{known}({', '.join(codes)})"
        raise UnfitError(name)

    def factors(self, node: ast.expr) -> str:
        """A product as its factors, for what sums it."""
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return f"{self.factors(left)}, {self.factors(right)}"
            case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=2)):
                code = self.store(self.value(base))
                return f"{code}, {code}"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"{self.factors(operand)}, -1"
        return self.value(node)

    def total(self, node: ast.expr) -> str:
        """The sum of each vector."""
        return self.store(f"_sum({self.shape()}, None, True, {self.factors(node)})")
