"""Rows of pandas tables as what is faster to read."""

import ast

from automl.speed.record import Function
from automl.speed.trees import Swap, expression, lines, loops_of


def table_rows(node: Function) -> bool:
    """Rows of a table of pandas as dictionaries."""

    def choose(each: ast.AST) -> ast.AST | None:
        match each:
            case ast.Call(func=ast.Attribute(value=table, attr="iterrows"), args=[]):
                text = ast.unparse(table)
                return expression(f"zip({text}.index, {text}.to_dict('records'))")
            case ast.Call(func=ast.Attribute(value=table, attr="apply"), args=[f], keywords=[k]):
                if k.arg == "axis" and ast.unparse(k.value) in ("1", "'columns'"):
                    text, function = ast.unparse(table), ast.unparse(f)
                    rows = f"[({function})(_row) for _row in {text}.to_dict('records')]"
                    return expression(f"pd.Series({rows}, index={text}.index)")
        return None

    swap = Swap(choose)
    swap.visit(node)
    return swap.count > 0


def table_entries(node: Function) -> bool:
    """Entries of a table of pandas by number, in a loop: lists of its columns."""
    for block, place, loop in loops_of(node):
        columns: dict[tuple[str, str], str] = {}

        def choose(
            each: ast.AST, loop: ast.AST = loop, columns: dict[tuple[str, str], str] = columns
        ) -> ast.AST | None:
            match each:
                case (
                    ast.Subscript(
                        value=ast.Attribute(
                            value=ast.Subscript(value=ast.Name(id=t), slice=c), attr="iloc" | "loc"
                        ),
                        slice=i,
                    )
                    | ast.Subscript(
                        value=ast.Attribute(value=ast.Name(id=t), attr="loc" | "at"),
                        slice=ast.Tuple(elts=[i, c]),
                    )
                    | ast.Subscript(
                        value=ast.Subscript(
                            value=ast.Attribute(value=ast.Name(id=t), attr="iloc" | "loc"), slice=i
                        ),
                        slice=c,
                    )
                ) if isinstance(each.ctx, ast.Load) and isinstance(c, ast.Constant):  # noqa: B023
                    name = columns.setdefault((t, ast.unparse(c)), f"_{t}_column{len(columns)}")  # noqa: B023
                    return expression(f"{name}[{ast.unparse(i)}]")
            return None

        Swap(choose).visit(loop)
        if columns:
            made = [f"{name} = {t}[{c}].tolist()" for (t, c), name in columns.items()]
            block[place:place] = lines("\n".join(made))
            return True
    return False
