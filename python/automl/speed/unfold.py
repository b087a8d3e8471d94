"""Writes comprehensions and calls of the script's own functions as statements."""

import ast
import copy

from automl.speed.kept import is_stored
from automl.speed.record import Function, Unit
from automl.speed.trees import Block, Swap, lines


class Unfolding:
    def __init__(self, units: list[Unit]) -> None:
        self.functions = {each.name: each.node for each in units if each.owner == ""}
        self.count = 0

    def block(self, body: Block, depth: int = 0) -> Block:
        return [new for each in body for new in self.statement(each, depth)]

    def statement(self, node: ast.stmt, depth: int) -> Block:
        before: Block = []
        if isinstance(node, ast.For | ast.While | ast.If):
            if isinstance(node, ast.If):
                node.test = self.taken_out(node.test, before, depth)
            node.body = self.block(node.body, depth)
            node.orelse = self.block(node.orelse, depth)
            return [*before, node]
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.ListComp):
            if isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                return [*lines(f"{name} = []"), *self.loops(node.value, f"{name}.append", depth)]
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return) and node.value:
            node.value = self.taken_out(node.value, before, depth)
        return [*before, node]

    def taken_out(self, value: ast.expr, before: Block, depth: int) -> ast.expr:
        """The expression with names in the place of what is worked out before it."""

        def choose(each: ast.AST) -> ast.AST | None:
            match each:
                case ast.Call(
                    func=ast.Name(id="sum"), args=[ast.GeneratorExp() | ast.ListComp() as many]
                ):
                    name = self.fresh()
                    before.extend([*lines(f"{name} = 0"), *self.loops(many, f"{name} +=", depth)])
                    return ast.Name(name, ast.Load())
                case ast.ListComp():
                    name = self.fresh()
                    before.extend(
                        [*lines(f"{name} = []"), *self.loops(each, f"{name}.append", depth)]
                    )
                    return ast.Name(name, ast.Load())
                case ast.Call(func=ast.Name(id=name)) if name in self.functions and depth < 3:
                    return self.inlined(each, self.functions[name], before, depth)
            return None

        return Swap(choose).visit(value)

    def fresh(self) -> str:
        self.count += 1
        return f"_u{self.count}"

    def loops(self, many: ast.ListComp | ast.GeneratorExp, into: str, depth: int) -> Block:
        text = ast.unparse(many.elt)
        inner = f"{into} {text}" if into.endswith("=") else f"{into}({text})"
        body: Block = lines(inner)
        for part in reversed(many.generators):
            for test in reversed(part.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(part.target, part.iter, body, [])]
        return self.block(body, depth)

    def inlined(
        self, call: ast.Call, function: Function, before: Block, depth: int
    ) -> ast.AST | None:
        *body, last = copy.deepcopy(function.body)
        parameters = [each.arg for each in function.args.args]
        returns = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
        if returns or not isinstance(last, ast.Return) or last.value is None or call.keywords:
            return None
        if len(parameters) != len(call.args):
            return None
        self.count += 1
        own = {n.id for s in body for n in ast.walk(s) if is_stored(n)} | set(parameters)

        def rename(each: ast.AST) -> ast.AST | None:
            if isinstance(each, ast.Name) and each.id in own:
                return ast.Name(f"_{each.id}{self.count_at}", each.ctx)
            return None

        self.count_at = self.count
        for name, given in zip(parameters, call.args, strict=True):
            before.extend(lines(f"_{name}{self.count} = {ast.unparse(given)}"))
        renamed = [Swap(rename).visit(each) for each in [*body, ast.Expr(last.value)]]
        *rest, final = renamed
        first = ast.Expr(ast.Constant(0))
        before.extend(
            self.block([each for each in rest if not is_text(each)] or [first], depth + 1)
        )
        return self.taken_out(final.value, before, depth + 1)


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def unfolded(node: Function, units: list[Unit]) -> Function:
    node = copy.deepcopy(node)
    others = [each for each in units if each.node.name != node.name]
    node.body = Unfolding(others).block(node.body)
    return ast.fix_missing_locations(node)
