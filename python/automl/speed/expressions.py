"""What an expression in a nest of loops is for all rounds together, as code for numpy."""

import ast
from typing import Any

from automl.speed.kept import chain
from automl.speed.lines import OPERATORS, UnfitError, Value, np
from automl.speed.places import Places

FUNCTIONS = {
    **{"abs": "np.abs({})", "float": "np.asarray({}, float)", "int": "np.trunc({}).astype(int)"},
    **{"bool": "np.asarray({}, bool)", "complex": "({} + 1j * {})", "round": "np.round({})"},
    **{"min": "np.minimum({}, {})", "max": "np.maximum({}, {})", "pow": "np.power({}, {})"},
}
TOTALS = {"sum": "sum", "mean": "mean", "min": "min", "max": "max", "prod": "prod", "std": "std"}
MATH = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}


class Expressions(Places):
    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return Value(repr(node.value))
            case ast.Name(id=name):
                return self.whole_list(node) if name not in self.names else self.names[name]
            case ast.Attribute():
                if self.mentions(node):
                    return self.attribute(node)
                return self.whole_list(node)
            case ast.BinOp() if type(node.op) in OPERATORS:
                pair = [self.value(node.left), self.value(node.right)]
                if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
                    if not any(each.extra for each in pair) and any(each.steps for each in pair):
                        return self.moved(node.op, *pair)
                codes, varies, extra = self.aligned(pair)
                return Value(f"({codes[0]} {OPERATORS[type(node.op)]} {codes[1]})", varies, extra)
            case ast.BinOp(op=ast.MatMult(), left=left, right=right):
                return self.dot(left, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self.whole(self.value(operand))
                return Value(f"np.logical_not({value.code})", value.varies, value.extra)
            case ast.UnaryOp(operand=operand):
                value = self.whole(self.value(operand))
                sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
                return Value(f"({sign}{value.code})", value.varies, value.extra)
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp(values=values):
                codes, varies, extra = self.aligned([self.value(each) for each in values])
                sign = " & " if isinstance(node.op, ast.And) else " | "
                return Value(f"({sign.join(codes)})", varies, extra)
            case ast.IfExp():
                parts = [self.value(each) for each in (node.test, node.body, node.orelse)]
                codes, varies, extra = self.aligned(parts)
                return Value(f"np.where({', '.join(codes)})", varies, extra)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
            case ast.List() | ast.Tuple():
                if not self.mentions(node):
                    return self.whole_list(node)
        raise UnfitError(ast.unparse(node))

    def mentions(self, node: ast.expr) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.names for n in ast.walk(node))

    def whole_list(self, node: ast.expr) -> Value:
        """Something from outside of the nest."""
        seen = self.observed(node)
        if isinstance(seen, list | tuple | np.ndarray) and np.ndim(seen) > 0:
            code, axes = self.array(node)
            return Value(code, False, axes)
        return Value(ast.unparse(node))

    def attribute(self, node: ast.Attribute) -> Value:
        value = self.whole(self.value(node.value))
        if node.attr in ("real", "imag"):
            return Value(f"{value.code}.{node.attr}", value.varies, value.extra)
        raise UnfitError(ast.unparse(node))

    def comparison(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        codes, varies, extra = self.aligned(values)
        parts = []
        for op, left, right in zip(node.ops, codes, codes[1:], strict=False):
            if type(op) not in OPERATORS:
                raise UnfitError(ast.unparse(node))
            parts.append(f"({left} {OPERATORS[type(op)]} {right})")
        return Value(f"({' & '.join(parts)})", varies, extra)

    def truth(self, value: Value) -> str:
        is_bool = value.code.startswith(("np.logical_not", "((", "(("))
        return value.code if is_bool else f"np.asarray({value.code}, bool)"

    def subscript(self, node: ast.Subscript) -> Value:
        base, index = chain(node)
        if not self.mentions(node):
            return self.whole_list(node)
        if self.mentions(base):
            value = self.value(base)
        else:
            code, axes = self.array(base)
            value = Value(code, False, axes)
        places: list[Any] = []
        for each in index:
            if isinstance(each, ast.Slice):
                places.append(self.cut(each))
            elif isinstance(each, ast.Constant) and each.value is ...:
                missing = (value.axes if value.base else value.extra) - len(index) + 1
                places += [(Value("0"), "")] * missing
            else:
                places.append(self.whole(self.value(each)))
        return self.at(value, places)

    def cut(self, node: ast.Slice) -> tuple[Value, str]:
        """Where a slice starts, and how long it is; the length must be the same in all rounds."""
        if node.step is not None:
            raise UnfitError("slices with steps")
        lower = self.value(node.lower) if node.lower else Value("0")
        if node.upper is None:
            if lower.varies:
                raise UnfitError("slices of different lengths")
            return lower, ""
        start = ast.unparse(node.lower) if node.lower else "0"
        upper = node.upper
        if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
            for one, other in ((upper.left, upper.right), (upper.right, upper.left)):
                length = self.value(other)
                if ast.unparse(one) == start and not length.varies:
                    return lower, length.code
        stop = self.value(upper)
        if lower.varies or stop.varies:
            length = self.store(f"np.unique({stop.code} - {lower.code})")
            return lower, f"{length}.item()"
        return lower, f"({stop.code} - {lower.code})"

    # Calls

    def call(self, node: ast.Call) -> Value:
        if not self.mentions(node):
            if not all(
                isinstance(
                    n,
                    ast.Call
                    | ast.Name
                    | ast.Attribute
                    | ast.Load
                    | ast.Constant
                    | ast.Subscript
                    | ast.BinOp
                    | ast.operator,
                )
                for n in ast.walk(node)
            ):
                raise UnfitError(ast.unparse(node))
            return Value(ast.unparse(node))
        name = ast.unparse(node.func)
        if node.keywords:
            raise UnfitError(ast.unparse(node))
        if name in ("np.dot", "numpy.dot") and len(node.args) == 2:
            return self.dot(*node.args)
        values = [self.value(each) for each in node.args]
        if name == "len" and values[0].extra:
            return Value(self.length(values[0]))
        first, _, last = name.rpartition(".")
        is_total = (first in ("np", "numpy", "") and last in TOTALS) or name == "np.linalg.norm"
        if is_total and len(values) == 1 and values[0].extra:
            if last == "sum":
                return self.total(node.args[0])
            value = self.whole(values[0])
            axes = tuple(range(-value.extra, 0))
            if last == "norm":
                return Value(f"np.sqrt((np.abs({value.code}) ** 2).sum(axis={axes}))", True)
            return Value(f"{value.code}.{TOTALS[last]}(axis={axes})", True)
        codes, varies, extra = self.aligned(values)
        if name in FUNCTIONS and len(codes) >= FUNCTIONS[name].count("{}"):
            code = FUNCTIONS[name].format(*codes)
            for each in codes[2:] if name in ("min", "max") else []:
                code = FUNCTIONS[name].format(code, each)
            return Value(code, varies, extra)
        if first in ("np", "numpy", "math") or (
            first == "" and last in ("sqrt", "exp", "log", "sin", "cos")
        ):
            known = MATH.get(last, last)
            function = getattr(np, known, None)
            if isinstance(function, np.ufunc) or known in ("where", "abs", "round", "clip"):
                code = f"np.{known}({', '.join(codes)})"
                is_whole = first == "math" and known in ("floor", "ceil", "trunc")
                return Value(f"{code}.astype(int)" if is_whole else code, varies, extra)
        raise UnfitError(name)

    def factors(self, node: ast.expr, is_negative: bool = False) -> str:
        """A product as a tuple of its factors, for what sums it."""
        parts = [node]
        while isinstance(parts[0], ast.BinOp) and isinstance(parts[0].op, ast.Mult):
            parts[:1] = [parts[0].left, parts[0].right]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and node.right.value == 2:
                code = self.store(self.whole(self.value(node.left)).code)
                return f"({code}, {code}{', -1' if is_negative else ''})"
        codes, _, _ = self.aligned([self.value(each) for each in parts])
        return f"({', '.join([*codes, *(['-1'] if is_negative else [])])},)"

    def total(self, node: ast.expr) -> Value:
        """The sum of all that lies behind the loops' axes."""
        extra = self.value(node).extra
        axes = list(range(self.rank, self.rank + extra))
        return Value(self.store(f"_sum({self.factors(node)}, {self.shape()}, {axes})"), True)

    def dot(self, left: ast.expr, right: ast.expr) -> Value:
        if self.value(left).extra != 1 or self.value(right).extra != 1:
            raise UnfitError("a product of matrices")
        return self.total(ast.BinOp(left, ast.Mult(), right))
