"""Writes comprehensions and calls of the script's own functions as statements."""

import ast
import copy

from automl.speed.record import Function, Unit
from automl.speed.trees import Block, Swap, is_stored, lines


class Unfolding:
    def __init__(self, functions: dict[str, Function]) -> None:
        self.functions = functions
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"_u{self.count}"

    def block(self, body: Block, depth: int = 0) -> Block:
        return [new for each in body for new in self.statement(each, depth)]

    def statement(self, node: ast.stmt, depth: int) -> Block:
        before: Block = []
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as many):
                return self.loops(many, f"{name} = []", f"{name}.append(", depth)
            case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return(value=ast.expr()):
                node.value = self.taken_out(node.value, before, depth)
            case ast.If():
                node.test = self.taken_out(node.test, before, depth)
        if isinstance(node, ast.For | ast.While | ast.If):
            node.body = self.block(node.body, depth)
            node.orelse = self.block(node.orelse, depth)
        return [*before, node]

    def taken_out(self, value: ast.expr, before: Block, depth: int) -> ast.expr:
        """The expression with names in the place of what is worked out before it."""

        def choose(each: ast.AST) -> ast.AST | None:
            match each:
                case ast.Call(ast.Name(id="sum"), [ast.GeneratorExp() | ast.ListComp() as many]):
                    name = self.fresh()
                    before.extend(self.loops(many, f"{name} = 0", f"{name} += (", depth))
                    return ast.Name(name, ast.Load())
                case ast.ListComp():
                    name = self.fresh()
                    before.extend(self.loops(each, f"{name} = []", f"{name}.append(", depth))
                    return ast.Name(name, ast.Load())
                case ast.Call(ast.Name(id=name), given, []) if name in self.functions and depth < 3:
                    return self.inlined(given, self.functions[name], before, depth)
            return None

        return Swap(choose).visit(value)

    def loops(
        self, many: ast.ListComp | ast.GeneratorExp, start: str, into: str, depth: int
    ) -> Block:
        body = lines(f"{into}{ast.unparse(many.elt)})")
        for part in reversed(many.generators):
            for test in reversed(part.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(part.target, part.iter, body, [])]
        return [*lines(start), *self.block(body, depth)]

    def inlined(
        self, given: list[ast.expr], function: Function, before: Block, depth: int
    ) -> ast.AST | None:
        """What a call gives, if its function returns once, at its end."""
        *body, last = copy.deepcopy(function.body)
        parameters = [each.arg for each in function.args.args]
        returns = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
        if returns or not isinstance(last, ast.Return) or len(parameters) != len(given):
            return None
        own = {n.id for s in body for n in ast.walk(s) if is_stored(n)} | set(parameters)
        suffix = self.fresh()

        def rename(each: ast.AST) -> ast.AST | None:
            if isinstance(each, ast.Name) and each.id in own:
                return ast.Name(f"_{each.id}{suffix}", each.ctx)
            return None

        for name, value in zip(parameters, given, strict=True):
            before.extend(lines(f"_{name}{suffix} = {ast.unparse(value)}"))
        *rest, result = [Swap(rename).visit(each) for each in [*body, ast.Expr(last.value)]]
        before.extend(self.block(rest, depth + 1))
        return self.taken_out(result.value, before, depth + 1)


def unfolded(node: Function, units: list[Unit]) -> Function:
    functions = {u.name: u.node for u in units if u.owner == "" and u.name != node.name}
    node = copy.deepcopy(node)
    node.body = Unfolding(functions).block(node.body)
    return ast.fix_missing_locations(node)
