"""Values in a nest of loops, and the lines that come in its place."""

import ast
from dataclasses import dataclass
from typing import Any

from automl.speed.kept import Kept
from automl.speed.record import Unit

try:
    import numpy as np
except ImportError:
    np = None


class UnfitError(Exception):
    """It cannot be said with whole arrays, or not by this program."""


@dataclass
class Value:
    """
    What varies has an axis for each loop, of length one where it stays the same, and `extra` ones
    behind them.
    """

    code: str
    varies: bool = False
    extra: int = 0
    base: str | None = None
    """The array of which it is a part, of so many axes, at this place; `code` is empty then."""
    axes: int = 0
    index: tuple[Any, ...] = ()
    start: str = "0"
    steps: dict[int, str] | None = None
    """Of a whole number that moves evenly with the loops: where it starts, and its step by loop."""


OPERATORS = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"},
    **{ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
    **{ast.LShift: "<<", ast.RShift: ">>"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}


class Lines:
    """Lines, names and arrays; subclasses know what loops and expressions are worth."""

    rank = 0

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.names: dict[str, Value] = {}
        self.levels: dict[str, int] = {}
        """The depth at which a name was given a value."""
        self.head: dict[str, str] = {}
        """Lines before the nest: lists as arrays."""
        self.lists: dict[str, str] = {}
        """Lists that are written to, by their arrays."""
        self.lines: list[str] = []
        self.lengths: list[str] = []
        self.kept: list[Kept] = []
        self.mask: str | None = None
        self.dead: str | None = None
        self.depth = self.indent = self.count = 0

    def value(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def give(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    # Lines

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self) -> str:
        self.count += 1
        return f"_v{self.count}"

    def store(self, code: str | None) -> str:
        if code is None or code.isidentifier():
            return code or "True"
        name = self.fresh()
        self.emit(f"{name} = {code}")
        return name

    def ones(self) -> str:
        return f"({'1, ' * self.rank})"

    def shape(self) -> str:
        sizes = [*self.lengths[: self.depth], *["1"] * (self.rank - self.depth)]
        return f"({', '.join(sizes)},)"

    def and_(self, one: str | None, other: str | None) -> str | None:
        return other if one is None else one if other is None else f"({one} & {other})"

    def not_(self, mask: str | None) -> str | None:
        return None if mask is None else f"np.logical_not({mask})"

    def mask_now(self) -> str | None:
        return self.and_(self.mask, self.not_(self.dead))

    # What was seen

    def observed(self, node: ast.expr) -> Any:
        """What an expression was at the end of a call; None where nobody knows."""
        if any(isinstance(each, ast.Call) for each in ast.walk(node)):
            return None
        names = {**self.unit.globals, **self.unit.seen}
        expression = ast.fix_missing_locations(ast.Expression(node))
        try:
            return eval(compile(expression, "seen", "eval"), names)
        except Exception:
            return None

    def array(self, base: ast.expr, is_written: bool = False) -> tuple[str, int]:
        """A list or array of the script as an array, with how many axes it has."""
        text = ast.unparse(base)
        seen = self.observed(base)
        if isinstance(base, ast.List | ast.Tuple | ast.BinOp):
            seen = self.observed(base)
        if isinstance(seen, str):
            seen = list(seen)
            text = f"list({text})"
        if not isinstance(seen, list | tuple | np.ndarray):
            raise UnfitError(f"{text} is no array")
        as_array = np.asarray(seen)
        if as_array.dtype.kind not in "biufcU" or as_array.ndim == 0:
            raise UnfitError(f"{text} holds something else")
        if isinstance(seen, np.ndarray):
            return text, as_array.ndim
        if text not in self.head:
            name = f"_a{len(self.head)}"
            self.head[text] = f"{name} = np.array({text})"
        name = self.head[text].split(" = ")[0]
        if is_written:
            self.lists[text] = name
            self.head[text] = f"{name} = np.array({text}, dtype=np.{as_array.dtype.name})"
        return name, as_array.ndim
