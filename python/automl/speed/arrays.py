"""Writes a nest of loops with whole arrays, in one pass over its statements."""

import ast

from automl.speed.expressions import Expressions, UnfitError, np
from automl.speed.record import Unit
from automl.speed.trees import is_stored


class Nest(Expressions):
    """One nest of loops in a function: every loop becomes an axis of arrays."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.levels: dict[str, int] = {}
        """The depth of loops at which a name was given a value."""
        self.loops: list[str] = []
        """The arrays of the numbers of the loops' rounds."""
        self.totals: dict[str, str] = {}
        """Names from outside of the nest that got another value there."""

    def written(self, loop: ast.For) -> list[str]:
        """The lines that come in its place."""
        self.rank = depth_of(loop)
        self.loop(loop)
        first = f"[(..., {'0, ' * self.rank})]"
        for name, code in self.totals.items():
            is_array = isinstance(self.observed(ast.Name(name, ast.Load())), np.ndarray)
            self.emit(f"{name} = np.asarray({code}){first}{'' if is_array else '.item()'}")
        for name, text in self.lists.items():
            self.emit(f"{text}[:] = {name}{first}.tolist()")
        return ["with np.errstate(all='ignore'):", *(f"    {line}" for line in self.lines)]

    def before(self) -> list[str]:
        """The lines that come before these: the arrays of what is outside of the nest."""
        return [f"{name} = {line}" for name, line in self.head.items()]

    def shape(self) -> str:
        sizes = [f"{name}.size" for name in self.loops] + ["1"] * (self.rank - len(self.loops))
        return f"({', '.join(sizes)},)"

    def statements(self, body: list[ast.stmt]) -> None:
        for place, node in enumerate(body):
            match node:
                case ast.If(body=[*inner, ast.Continue() | ast.Break() as last]):
                    # What follows is for those rounds that do not end here.
                    if isinstance(last, ast.Break):
                        inner = [*inner, ast.Assign([ENDED], ast.Constant(True))]
                    rest = [*node.orelse, *body[place + 1 :]]
                    self.choice(ast.If(node.test, inner, rest))
                    return
                case ast.For():
                    self.loop(node)
                case ast.While(orelse=[]):
                    self.stay("while True:", node.body, node.test)
                case ast.If():
                    self.choice(node)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self.assign(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self.assign(target, value)
                case ast.AugAssign():
                    self.augment(node)
                case ast.Expr(ast.Call(ast.Attribute(target, "append"), [value])):
                    self.append(target, value)
                case ast.Expr(ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise UnfitError(ast.dump(node)[:60])

    # Loops

    def loop(self, node: ast.For) -> None:
        if node.orelse:
            raise UnfitError("else")
        if ends_early(node):
            if not self.is_outside(node.iter):
                raise UnfitError("a loop of varying length that ends early")
            header = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}:"
            self.stay(header, node.body, None)
            return
        outer = self.mask
        match node.iter:
            case ast.Call(ast.Name(id="range"), bounds):
                self.give(node.target, self.rounds(bounds))
            case source:
                self.bind(node.target, source, self.rounds([length_of(source)]))
        self.statements(node.body)
        self.loops.pop()
        self.mask = outer

    def rounds(self, bounds: list[ast.expr]) -> str:
        """The numbers of the rounds of a new loop, on an axis of their own."""
        codes = [self.value(each) for each in bounds]
        varies = not all(self.is_outside(each) for each in bounds)
        name = self.store(f"_rounds({len(self.loops)}, {self.rank}, {', '.join(codes)})")
        self.loops.append(name)
        if varies:
            start, stop = codes[:2] if len(codes) > 1 else ("0", codes[0])
            self.restrict(f"({name} >= {start}) & ({name} < {stop})")
        return name

    def bind(self, target: ast.expr, source: ast.expr, number: str) -> None:
        """Gives the targets of a loop their values."""
        match source:
            case ast.Call(ast.Name(id="enumerate"), [each, *start]):
                first = self.value(start[0]) if start else "0"
                self.give(target.elts[0], f"({number} + {first})")
                self.bind(target.elts[1], each, number)
            case ast.Call(ast.Name(id="zip"), args):
                for part, each in zip(target.elts, args, strict=True):
                    self.bind(part, each, number)
            case _:
                self.give(target, f"_at({self.value(source)}, {self.rank}, {number})")

    def stay(self, header: str, body: list[ast.stmt], test: ast.expr | None) -> None:
        """A loop that goes on for all rounds of the outer ones until the last of them is done."""
        if not self.loops:
            raise UnfitError("nothing to do together")
        outer = self.mask
        self.names[ENDED.id] = "False"
        stored = {n.id for s in body for n in ast.walk(s) if is_stored(n)} | {ENDED.id}
        kept = {name: self.fresh() for name in sorted(stored & self.names.keys())}
        for name, code in kept.items():
            self.emit(f"{code} = {self.names[name]}")
            self.names[name] = code
        self.emit(header)
        self.indent += 1
        self.restrict(f"np.logical_not({kept[ENDED.id]})")
        if test is not None:
            self.restrict(self.value(test))
        self.emit(f"if not np.any({self.mask}):")
        self.emit("    break")
        self.statements(body)
        for name, code in kept.items():
            self.emit(f"{code} = {self.names[name]}")
            self.names[name] = code
        self.indent -= 1
        self.mask = outer

    # Conditions

    def restrict(self, code: str) -> None:
        code = f"np.asarray({code}, bool)"
        self.mask = self.store(code if self.mask == "True" else f"{self.mask} & {code}")

    def choice(self, node: ast.If) -> None:
        if self.search(node):
            return
        outer, test = self.mask, self.store(self.value(node.test))
        self.restrict(test)
        self.statements(node.body)
        self.mask = outer
        if node.orelse:
            self.restrict(f"np.logical_not({test})")
            self.statements(node.orelse)
            self.mask = outer

    def search(self, node: ast.If) -> bool:
        """`if d < best: best = d; which = i`: the best of many, and what was there."""
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        match tests[-1]:
            case ast.Compare(left, [ast.Lt() | ast.Gt() as op], [right]):
                sign = 1 if isinstance(op, ast.Lt) else -1
            case _:
                return False
        new = {ast.unparse(a.targets[0]): a.value for a in node.body if isinstance(a, ast.Assign)}
        if ast.unparse(left) in new:
            left, right, sign = right, left, -sign
        best = ast.unparse(right)
        start = self.levels.get(best, 0)
        if best not in new or node.orelse or start >= len(self.loops) or len(new) < len(node.body):
            return False
        value = new.pop(best)
        if ast.dump(value) != ast.dump(left):
            return False
        outer, value = self.mask, self.store(self.value(value))
        # `best is None or d < best` is no condition on the rounds.
        for test in [] if isinstance(getattr(node.test, "op", None), ast.Or) else tests[:-1]:
            self.restrict(self.value(test))
        codes = {best: value, **{name: self.value(each) for name, each in new.items()}}
        pairs = ", ".join(f"({code}, {self.names.get(name, name)})" for name, code in codes.items())
        found = {name: self.fresh() for name in codes}
        given = f"{sign}, {value}, {self.mask}, {self.shape()}, {start}, {pairs}"
        self.emit(f"{', '.join(found.values())}, = _first({given})")
        for name, code in found.items():
            self.reduced(name, code, start)
        self.mask = outer
        return True

    def reduced(self, name: str, code: str, start: int) -> None:
        """A name from outside of a loop got another value from all rounds of it."""
        self.names[name] = code
        if start == 0:
            self.totals[name] = code

    # Names and places

    def assign(self, target: ast.expr, source: ast.expr) -> None:
        name = ast.unparse(target)
        is_reduced = not self.is_local(name)
        match source:
            case ast.Tuple(elts=parts) if isinstance(target, ast.Tuple):
                codes = [self.store(self.value(each)) for each in parts]
                for each, code in zip(target.elts, codes, strict=True):
                    self.give(each, code)
            case ast.List(elts=[]) if isinstance(target, ast.Name):
                self.names[name], self.levels[name] = "[]", len(self.loops)
            case ast.BinOp(left, ast.Add(), right) if is_reduced and ast.unparse(left) == name:
                self.augment(ast.AugAssign(target, ast.Add(), right))
            case ast.Call(ast.Name(id="min" | "max" as kind), [one, other]) if (
                is_reduced and name in (ast.unparse(one), ast.unparse(other))
            ):
                new = other if ast.unparse(one) == name else one
                test = ast.Compare(new, [ast.Lt() if kind == "min" else ast.Gt()], [target])
                self.choice(ast.If(test, [ast.Assign([target], new)], []))
            case _:
                self.give(target, self.value(source))

    def give(self, target: ast.expr, code: str) -> None:
        match target:
            case ast.Name(id=name):
                old = self.names.get(name)
                if self.mask != "True" and old is not None:
                    code = f"_chosen({self.mask}, {code}, {old})"
                self.names[name] = self.store(code) if "(" in code else code
                self.levels[name] = len(self.loops)
            case ast.Tuple(elts=parts):
                code = self.store(code)
                for place, each in enumerate(parts):
                    self.give(each, f"_at({code}, {self.rank}, {place})")
            case ast.Subscript():
                array, places = self.target(target)
                self.emit(f"_put({array}, {self.rank}, {places}, {code}, {self.mask})")
            case _:
                raise UnfitError("stored elsewhere")

    def target(self, node: ast.Subscript) -> tuple[str, str]:
        """The array that is written to, and the numbers of the place."""
        base, places = self.places(node)
        array = self.array(base, is_written=True) if self.is_outside(base) else None
        if array is None:
            raise UnfitError("stored in no array")
        return array, f"({places},)"

    def is_local(self, name: str) -> bool:
        """Whether each round has a value of its own under this name."""
        return name in self.names and self.levels.get(name, 0) >= len(self.loops)

    def augment(self, node: ast.AugAssign) -> None:
        target, name = node.target, ast.unparse(node.target)
        is_sum = isinstance(node.op, ast.Add | ast.Sub)
        sign = ", -1" if isinstance(node.op, ast.Sub) else ""
        if isinstance(target, ast.Subscript) and is_sum:
            array, places = self.target(target)
            given = f"{places}, {self.shape()}, {self.mask}, {self.factors(node.value)}{sign}"
            self.emit(f"_add({array}, {self.rank}, {given})")
        elif isinstance(target, ast.Subscript) or self.is_local(name):
            self.give(target, self.value(ast.BinOp(target, node.op, node.value)))
        elif is_sum:
            start = self.levels.get(name, 0)
            axes = list(range(1, self.rank - start + 1))
            given = f"{self.shape()}, {axes}, {self.mask}, {self.factors(node.value)}{sign}"
            before = self.names.get(name, name)
            self.reduced(name, self.store(f"{before} + _sum({given})"), start)
        else:
            raise UnfitError("a running product")

    def append(self, target: ast.expr, source: ast.expr) -> None:
        """A list that rounds add to; one that each outer round begins anew is a vector."""
        text = ast.unparse(target)
        start = self.levels.get(text, 0)
        parts = source.elts if isinstance(source, ast.Tuple) else [source]
        codes = [self.value(each) for each in parts]
        if start == 0:
            items = [f"_items({code}, {self.shape()}, {self.mask})" for code in codes]
            all_items = f"zip({', '.join(items)})" if isinstance(source, ast.Tuple) else items[0]
            self.emit(f"{text}.extend({all_items})")
        elif self.mask == "True" and start + 1 == len(self.loops) and len(codes) == 1:
            self.names[text] = self.store(f"_row({codes[0]}, {self.shape()}, {start})")
        else:
            raise UnfitError("rows of different lengths")


ENDED = ast.Name("_ended", ast.Store())
"""Whether a loop came to its `break`."""


def length_of(source: ast.expr) -> ast.expr:
    """How many elements a loop goes over."""
    match source:
        case ast.Call(ast.Name(id="enumerate"), [each, *_]):
            return length_of(each)
        case ast.Call(ast.Name(id="zip"), args):
            return ast.Call(ast.Name("min"), [length_of(each) for each in args], [])
    return ast.Call(ast.Name("len"), [source], [])


def depth_of(node: ast.AST) -> int:
    own = int(isinstance(node, ast.For) and not ends_early(node))
    return own + max((depth_of(each) for each in ast.iter_child_nodes(node)), default=0)


def ends_early(loop: ast.For) -> bool:
    """Its rounds are done one after the other."""
    inner = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.For | ast.While)]
    own = {b for n in inner for b in ast.walk(n) if isinstance(b, ast.Break)}
    return any(isinstance(n, ast.Break) and n not in own for s in loop.body for n in ast.walk(s))
