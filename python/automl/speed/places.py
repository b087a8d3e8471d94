"""The loops of a nest and the parts of arrays that they look at, for all rounds together."""

import ast
from typing import Any

from automl.speed.kept import is_range
from automl.speed.lines import OPERATORS, Lines, UnfitError, Value


class Places(Lines):
    """Loops and parts of arrays."""

    # Loops

    def iterate(self, target: ast.expr, source: ast.expr) -> None:
        """Gives the targets of a loop their values on an axis of their own."""
        match source:
            case ast.Call(func=ast.Name(id="range"), args=args):
                self.give(target, self.numbers([self.value(each) for each in args]))
            case ast.Call(func=ast.Name(id="enumerate"), args=[each, *start]):
                place = self.elements([each])
                first = self.value(start[0]).code if start else "0"
                index, element = target.elts
                self.give(index, Value(f"({place[0].code} + {first})", True))
                self.bind(element, each, place)
            case ast.Call(func=ast.Name(id="zip"), args=args):
                place = self.elements(args)
                for part, value in zip(target.elts, place[1:], strict=True):
                    self.give(part, value)
            case _:
                self.bind(target, source, self.elements([source]))

    def bind(self, target: ast.expr, source: ast.expr, place: list[Value]) -> None:
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name):
            if source.func.id == "zip":
                for part, value in zip(target.elts, place[1:], strict=True):
                    self.give(part, value)
                return
        self.give(target, place[1])

    def axis(self, length: str) -> Value:
        """The numbers of the rounds of a new loop."""
        at = self.depth - 1
        name = f"_n{at}_{self.count}"
        self.count += 1
        self.emit(f"{name} = {length}")
        self.lengths[at:] = [name]
        axes = ", ".join(":" if each == at else "None" for each in range(self.rank))
        return Value(self.store(f"np.arange({name})[{axes}]"), True, steps={at: "1"})

    def numbers(self, bounds: list[Value]) -> Value:
        start, stop = (Value("0"), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2].code if len(bounds) > 2 else "1"
        if not start.varies and not stop.varies:
            length = f"len(range({start.code}, {stop.code}, {step}))"
            simple = start.code == "0" and step == "1"
            place = self.axis(length)
            if simple:
                return place
            code = f"({start.code} + {step} * {place.code})"
            return Value(code, True, start=start.code, steps={self.depth - 1: step})
        if step != "1":
            raise UnfitError("steps of varying ranges")
        least = self.store(f"np.min({start.code})")
        place = self.axis(f"max(0, int(np.max({stop.code}) - {least}))")
        number = self.store(f"{least} + {place.code}")
        inside = self.store(f"({number} >= {start.code}) & ({number} < {stop.code})")
        self.mask = self.and_(self.mask, inside)
        return Value(number, True)

    def elements(self, sources: list[ast.expr]) -> list[Value]:
        """The numbers of the rounds, and the elements of each source."""
        if len(sources) == 1 and isinstance(sources[0], ast.Call) and not is_range(sources[0]):
            call = sources[0]
            if isinstance(call.func, ast.Name) and call.func.id == "zip":
                return self.elements(call.args)
        values = [self.value(each) for each in sources]
        if any(value.extra == 0 for value in values):
            raise UnfitError("a loop over something else")
        lengths = [self.length(value) for value in values]
        place = self.axis(lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})")
        return [place, *(self.at(value, [place]) for value in values)]

    def length(self, value: Value) -> str:
        if value.base is None:
            return f"np.shape({value.code})[{self.rank if value.varies else 0}]"
        for number, each in enumerate(value.index):
            if isinstance(each, tuple):
                return each[1] or f"(np.shape({value.base})[{number}] - {each[0].code})"
        return f"np.shape({value.base})[{len(value.index)}]"

    # Places

    def at(self, value: Value, index: list[Any]) -> Value:
        """A part of an array, at places that may vary: `(start, length)` stands for a slice."""
        if value.base is None and value.varies:
            return self.at_computed(value, index)
        base, axes = (value.base, value.axes) if value.base else (value.code, value.extra)
        old = list(value.index)
        slots = [number for number, part in enumerate(old) if isinstance(part, tuple)]
        for each in index:
            slot = slots.pop(0) if slots else None
            if slot is None:
                old.append(each)
            elif isinstance(each, tuple):
                if each[0].code != "0" or each[1]:
                    raise UnfitError("a slice of a slice")
            else:
                first = old[slot][0]
                old[slot] = self.moved(ast.Add(), first, each)
        if len(old) > axes:
            raise UnfitError("more subscripts than axes")
        extra = axes - sum(not isinstance(each, tuple) for each in old)
        varies = any((e[0] if isinstance(e, tuple) else e).varies for e in old)
        made = Value("", varies, extra, base, axes, tuple(old))
        if extra == 0 or not varies:
            made = Value(self.gathered(made), varies, extra, base, axes, tuple(old))
        return made

    def at_computed(self, value: Value, index: list[Any]) -> Value:
        if len(index) != 1 or isinstance(index[0], tuple) or value.extra < 1:
            raise UnfitError("a part of what was computed")
        colons = ":, " * self.rank
        if not index[0].varies:
            return Value(f"{value.code}[{colons}{index[0].code}]", True, value.extra - 1)
        at = self.depth - 1
        if value.extra != 1 or "arange" in index[0].code:
            raise UnfitError("places in what was computed")
        return Value(f"np.swapaxes({value.code}, {at}, {self.rank})[..., 0]", True)

    def gathered(self, value: Value) -> str:
        """The code that takes a part out of an array."""
        base, index, extra = value.base or value.code, list(value.index), value.extra
        if not value.varies:
            parts = [
                f"{e[0].code}:{self.end(e)}" if isinstance(e, tuple) else e.code for e in index
            ]
            return f"{base}[{', '.join(parts)}]"
        even = self.evenly(base, index, value.axes or value.extra, extra)
        if even is not None:
            return even
        guard = self.mask_now() is not None
        front = (
            not any(isinstance(each, tuple) for each in index) and len(index) + extra == value.axes
        )
        parts = []
        seen = 0
        full = index if front else [*index, *[(Value("0"), "")] * (value.axes - len(index))]
        for axis, each in enumerate(full):
            size = f"np.shape({base})[{axis}]"
            if isinstance(each, tuple):
                length = each[1] or f"{size} - {each[0].code}"
                tail = "" if seen == extra - 1 else f"[:{', None' * (extra - 1 - seen)}]"
                run = f"np.arange({length}){tail}"
                lead = f"{each[0].code}[...{', None' * extra}]" if each[0].varies else each[0].code
                parts.append(run if lead == "0" else f"{lead} + {run}")
                seen += 1
                continue
            code = each.code
            if guard and each.varies:
                code = f"({code}) % {size}"
            parts.append(
                code if front or not each.varies else f"np.asarray({code})[...{', None' * extra}]"
            )
        return f"{base}[{', '.join(parts)}]"

    def evenly(self, base: str, index: list[Any], axes: int, extra: int) -> str | None:
        """The same as a view, where all places move evenly."""
        places = []
        full = [*index, *[(Value("0"), "")] * (axes - len(index))]
        for axis, each in enumerate(full):
            value, length = each if isinstance(each, tuple) else (each, "None")
            if not isinstance(each, Value) and length == "":
                length = f"np.shape({base})[{axis}] - {value.start if value.varies else value.code}"
            if value.varies and value.steps is None:
                return None
            steps = "".join(f"({a}, {s}), " for a, s in (value.steps or {}).items())
            places.append(f"({value.start if value.varies else value.code}, ({steps}), {length})")
        guard = ", True" if self.mask_now() else ""
        return f"_view({base}, {self.shape()}, [{', '.join(places)}]{guard})"

    def moved(self, op: ast.operator, one: Value, other: Value) -> Value:
        """Sums and products of numbers, with how evenly they move."""
        code = f"({one.code} {OPERATORS[type(op)]} {other.code})"
        if not one.varies and not other.varies:
            return Value(code)
        made = Value(code, True)
        a, b = (
            x if x.varies else Value(x.code, False, 0, start=x.code, steps={}) for x in (one, other)
        )
        if a.steps is None or b.steps is None:
            return made
        sign = OPERATORS[type(op)]
        if sign in "+-":
            made.steps = dict(a.steps)
            for axis, step in b.steps.items():
                made.steps[axis] = f"({made.steps.get(axis, '0')} {sign} {step})"
            made.start = f"({a.start} {sign} {b.start})"
        elif sign == "*" and (not one.varies or not other.varies):
            by, what = (a, b) if not one.varies else (b, a)
            made.steps = {
                axis: f"({step} * {by.start})" for axis, step in (what.steps or {}).items()
            }
            made.start = f"({what.start} * {by.start})"
        return made

    def end(self, part: tuple[Value, str]) -> str:
        return f"{part[0].code} + {part[1]}" if part[1] else ""

    def whole(self, value: Value) -> Value:
        """With its code written."""
        if value.code == "" and value.base is not None:
            return Value(self.store(self.gathered(value)), value.varies, value.extra)
        return value

    def aligned(self, values: list[Value]) -> tuple[list[str], bool, int]:
        values = [self.whole(each) for each in values]
        extra = max(each.extra for each in values)
        codes = []
        for each in values:
            if each.varies and each.extra < extra:
                colons, new = ":, " * self.rank, "None, " * (extra - each.extra)
                codes.append(f"{each.code}[{colons}{new}...]")
            else:
                codes.append(each.code)
        return codes, any(each.varies for each in values), extra
