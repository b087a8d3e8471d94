"""Writes a nest of loops with whole arrays, in one pass over its statements."""

import ast
from dataclasses import replace

from automl.speed.expressions import Expressions
from automl.speed.kept import (
    Kept,
    chain,
    depth_of,
    is_kept,
    is_none_check,
    is_plain,
    is_range,
    is_stored,
)
from automl.speed.lines import UnfitError, Value, np


class Nest(Expressions):
    """One nest of loops in a function. `lines` is what comes in its place."""

    def written(self, loop: ast.For) -> list[str]:
        self.rank = depth_of(loop)
        self.accumulated: dict[str, str] = {}
        self.loop(loop)
        self.finish()
        head = [*self.head.values()]
        lines = [*head, "with np.errstate(all='ignore'):", *(f"    {line}" for line in self.lines)]
        return lines

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.For():
                self.loop(node)
            case ast.While(orelse=[]):
                self.stay("while True:", node.body, node.test)
            case ast.If():
                self.choice(node)
            case ast.Assign(targets=[target]):
                self.assign(target, node.value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign(target, value)
            case ast.AugAssign():
                self.augment(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[value])):
                self.append(node.value.func.value, value)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Continue():
                self.skip()
            case ast.Break() if self.kept:
                mask = self.mask_now()
                ended = self.kept[-1].ended
                self.emit(f"{ended} = {ended} | {mask or 'True'}")
                self.skip()
            case _:
                raise UnfitError(ast.dump(node)[:60])

    # Loops

    def loop(self, node: ast.For) -> None:
        if node.orelse:
            raise UnfitError("else")
        outer = self.mask, self.dead
        if is_kept(node):
            iterable = self.value(node.iter) if not is_range(node.iter) else None
            header = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}:"
            if iterable is not None and iterable.varies:
                raise UnfitError("a kept loop over what varies")
            if is_range(node.iter) and any(self.value(each).varies for each in node.iter.args):
                raise UnfitError("a kept loop of varying length")
            self.stay(header, node.body, None)
        else:
            self.dead = None
            self.mask = self.and_(outer[0], self.not_(outer[1]))
            self.depth += 1
            self.iterate(node.target, node.iter)
            self.statements(node.body)
            self.depth -= 1
        self.mask, self.dead = outer

    def stay(self, header: str, body: list[ast.stmt], test: ast.expr | None) -> None:
        """A loop that goes on for all rounds of the outer ones until the last of them is done."""
        if self.depth == 0:
            raise UnfitError("nothing to do together")
        outer = self.mask, self.dead
        names = {n.id for s in body for n in ast.walk(s) if is_stored(n)}
        kept = Kept(ended=self.fresh())
        self.emit(f"{kept.ended} = np.zeros({self.ones()}, bool)")
        for name in sorted(names):
            if name not in self.names:
                continue
            before = self.names[name]
            if before.extra:
                raise UnfitError("vectors in a kept loop")
            kept.names[name] = self.fresh()
            start = before.code
            self.emit(
                f"{kept.names[name]} = np.reshape({start}, np.shape({start}) or {self.ones()})"
            )
            self.names[name] = Value(kept.names[name], True)
        self.emit(header)
        self.indent += 1
        self.kept.append(kept)
        self.dead = None
        self.mask = self.and_(self.and_(outer[0], self.not_(outer[1])), f"~{kept.ended}")
        if test is not None:
            self.mask = self.and_(self.mask, self.value(test).code)
        mask = self.store(self.mask)
        self.mask = mask
        self.emit(f"if not np.any({mask}):")
        self.emit("    break")
        self.statements(body)
        for name, code in kept.names.items():
            self.emit(f"{code} = {self.names[name].code}")
            self.names[name] = Value(code, True)
        self.kept.pop()
        self.indent -= 1
        self.mask, self.dead = outer

    # Conditions

    def choice(self, node: ast.If) -> None:
        if self.search(node):
            return
        test = self.store(self.truth(self.value(node.test)))
        outer = self.mask
        self.mask = self.and_(outer, test)
        self.statements(node.body)
        self.mask = self.and_(outer, self.not_(test))
        self.statements(node.orelse)
        self.mask = outer

    def skip(self) -> None:
        mask = self.mask_now() or "True"
        self.dead = mask if self.dead is None else f"({self.dead} | {mask})"

    def search(self, node: ast.If) -> bool:
        """`if d < best: best = d; which = i`: the best of many, and what was there."""
        test = node.test
        others: list[ast.expr] = []
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            *others, test = test.values
        elif isinstance(test, ast.BoolOp) and is_none_check(test.values[0]):
            test = test.values[1]
        if node.orelse or not isinstance(test, ast.Compare) or len(test.ops) > 1:
            return False
        left, op, right = test.left, test.ops[0], test.comparators[0]
        assigned = {a.targets[0].id: a.value for a in node.body if is_plain(a)}
        if len(assigned) != len(node.body):
            return False
        less = isinstance(op, ast.Lt)
        if isinstance(left, ast.Name) and left.id in assigned:
            left, right, less = right, left, not less
        if not isinstance(right, ast.Name) or right.id not in assigned:
            return False
        if not isinstance(op, ast.Lt | ast.Gt) or ast.dump(assigned[right.id]) != ast.dump(left):
            return False
        start = self.start_of(right.id)
        if start >= self.depth:
            return False
        value = self.store(self.value(left).code)
        outer = self.mask
        for each in others:
            self.mask = self.and_(self.mask, self.truth(self.value(each)))
        mask = self.mask_now()
        place, shape = self.fresh(), self.shape()
        key = value if less else f"-np.asarray({value})"
        self.emit(f"{place} = _first_least({key}, {shape}, {start}{f', {mask}' if mask else ''})")
        best = self.store(f"_pick({value}, {place}, {shape}, {start})")
        before = self.names.get(right.id) or Value(right.id)
        sign = "<" if less else ">"
        fresh = before.code in ("None", "np.inf", "(-np.inf)")
        is_better = "True" if fresh else self.store(f"{best} {sign} {before.code}")
        if mask:
            found = self.store(f"_pick({mask}, {place}, {shape}, {start})")
            is_better = found if fresh else self.store(f"{found} & {is_better}")
        for name, new in assigned.items():
            old = (self.names.get(name) or Value(name)).code
            picked = best
            if name != right.id:
                picked = f"_pick({self.value(new).code}, {place}, {shape}, {start})"
            keeps = is_better != "True" and old != "None"
            code = self.store(f"np.where({is_better}, {picked}, {old})" if keeps else picked)
            self.names[name] = Value(code, True)
            if start == 0:
                self.accumulated[name] = code
        self.mask = outer
        return True

    # Names and places

    def assign(self, target: ast.expr, source: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(source, ast.Tuple):
            values = [self.value(each) for each in source.elts]
            for each, value in zip(target.elts, values, strict=True):
                self.give(each, value)
        elif isinstance(source, ast.List) and not source.elts and isinstance(target, ast.Name):
            self.names[target.id] = Value("[]", False)
            self.levels[target.id] = self.depth
        elif not self.reduce(target, source):
            self.give(target, self.value(source))

    def give(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                mask = self.mask_now()
                old = self.names.get(name)
                value = self.whole(value) if mask else value
                if mask and old is not None and not value.extra and not old.extra:
                    value = Value(self.store(f"np.where({mask}, {value.code}, {old.code})"), True)
                elif value.base is None:
                    value = replace(
                        value, code=self.store(value.code) if value.varies else value.code
                    )
                self.names[name] = value
                self.levels[name] = self.depth
            case ast.Tuple(elts=elts):
                for place, each in enumerate(elts):
                    self.give(each, self.at(value, [Value(str(place))]))
            case ast.Subscript():
                array, index = self.place(target)
                if value.extra:
                    raise UnfitError("rows are stored")
                self.emit(f"_put({array}, ({index},), {value.code}, {self.shape()}{self.masked()})")
            case _:
                raise UnfitError("stored elsewhere")

    def masked(self) -> str:
        mask = self.mask_now()
        return f", {mask}" if mask else ""

    def place(self, target: ast.Subscript) -> tuple[str, str]:
        """The array that is written to, and the numbers of the place."""
        base, index = chain(target)
        array, rank = self.array(base, is_written=True)
        if len(index) != rank or any(isinstance(each, ast.Slice) for each in index):
            raise UnfitError("a part of an array is stored")
        return array, ", ".join(self.value(each).code for each in index)

    def reduce(self, target: ast.expr, source: ast.expr) -> bool:
        """`s = s + x`, `m = max(m, x)`."""
        if not isinstance(target, ast.Name):
            return False
        match source:
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=right) if name == target.id:
                if not self.is_local(name):
                    self.augment(ast.AugAssign(target, ast.Add(), right))
                    return True
            case ast.Call(func=ast.Name(id="min" | "max" as kind), args=[one, other]):
                if isinstance(other, ast.Name) and other.id == target.id:
                    one, other = other, one
                is_own = isinstance(one, ast.Name) and one.id == target.id
                if is_own and not self.is_local(target.id) and not self.mask_now():
                    self.extreme(target.id, kind, other)
                    return True
        return False

    def extreme(self, name: str, kind: str, other: ast.expr) -> None:
        start = self.start_of(name)
        axes = tuple(range(start, self.depth))
        full = f"_spread({self.whole(self.value(other)).code}, {self.shape()})"
        before = (self.names.get(name) or Value(name)).code
        pair = "np.minimum" if kind == "min" else "np.maximum"
        code = self.store(f"{pair}({before}, np.{kind}({full}, axis={axes}, keepdims=True))")
        self.names[name] = Value(code, True)
        if start == 0:
            self.accumulated[name] = code

    def start_of(self, name: str) -> int:
        """The depth at which a name that rounds add to has its home."""
        return self.levels.get(name, 0)

    def is_local(self, name: str) -> bool:
        """Whether each round has a value of its own under this name."""
        return name in self.names and self.levels.get(name, 0) >= self.depth

    def augment(self, node: ast.AugAssign) -> None:
        target = node.target
        is_sum = isinstance(node.op, ast.Add | ast.Sub)
        if isinstance(target, ast.Subscript):
            if not is_sum:
                raise UnfitError("multiplied in place")
            array, index = self.place(target)
            factors = self.factors(node.value, isinstance(node.op, ast.Sub))
            self.emit(f"_add({array}, ({index},), {factors}, {self.shape()}{self.masked()})")
            return
        if not isinstance(target, ast.Name):
            raise UnfitError("added elsewhere")
        name = target.id
        if self.is_local(name) or not is_sum or name in self.held():
            if not (self.is_local(name) or name in self.held()):
                raise UnfitError("a running product")
            self.give(
                target, self.value(ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value))
            )
            return
        start = self.start_of(name)
        axes = list(range(start, self.depth))
        value = self.value(node.value)
        before = (self.names.get(name) or Value(name)).code
        factors = self.factors(node.value, isinstance(node.op, ast.Sub))
        if value.extra:
            raise UnfitError("sums of vectors")
        code = self.store(f"{before} + _sum({factors}, {self.shape()}, {axes}{self.masked()})")
        self.names[name] = Value(code, True)
        if start == 0:
            self.accumulated[name] = code

    def held(self) -> set[str]:
        return {name for kept in self.kept for name in kept.names}

    def append(self, target: ast.expr, source: ast.expr) -> None:
        """A list that rounds add to; one that each outer round begins anew is a row."""
        text = ast.unparse(target)
        start = self.start_of(text)
        value = self.whole(self.value(source))
        full = f"_spread({value.code}, {self.shape()})"
        mask = self.mask_now()
        if start == 0:
            if mask:
                full = f"{full}[_spread({mask}, {self.shape()})]"
            else:
                full = self.store(full)
                full = f"{full}.reshape((-1,) + np.shape({full})[{self.rank}:])"
            self.emit(f"{text}.extend({full}.tolist())")
            return
        if mask or value.extra or start + 1 != self.depth:
            raise UnfitError("rows of different lengths")
        self.names[text] = Value(
            self.store(f"np.swapaxes({full}[..., None], {start}, -1)"), True, 1
        )

    def finish(self) -> None:
        for name, code in self.accumulated.items():
            seen = self.observed(ast.Name(name, ast.Load()))
            kind = type(seen).__name__ if isinstance(seen, bool | int | float) else ""
            is_plain_number = type(seen).__module__ == "builtins" and kind != ""
            is_own = isinstance(seen, np.generic)
            first = f"np.ravel({code})[0]" if is_own else f"np.ravel({code})[0].item()"
            cast = f"{kind}({first})" if is_plain_number else first
            self.emit(f"{name} = {cast}")
        for text, code in self.lists.items():
            self.emit(f"{text}[:] = {code}.tolist()")
