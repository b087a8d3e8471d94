"""Tables of pandas in a form that is faster to read, row by row."""

import ast

from automl.speed.record import Function
from automl.speed.trees import expression, lines, loops_of, put, stored_in, swap


def table_rows(node: Function) -> bool:
    """Rows as dictionaries."""

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

    return swap(node, choose) > 0


def entry_of(node: ast.AST) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """`table[column].iloc[row]` and the like: the table, the column and the row."""
    match node:
        case (
            ast.Subscript(
                ast.Attribute(ast.Subscript(ast.Name() as table, column), "iloc" | "loc"), row
            )
            | ast.Subscript(
                ast.Attribute(ast.Name() as table, "loc" | "at"), ast.Tuple(elts=[row, column])
            )
            | ast.Subscript(
                ast.Subscript(ast.Attribute(ast.Name() as table, "iloc" | "loc"), row), column
            )
        ) if isinstance(node.ctx, ast.Load) and isinstance(column, ast.Constant):
            return table, column, row
    return None


def table_entries(node: Function) -> bool:
    """Entries by number, in a loop: lists of the columns."""
    for block, place, loop in loops_of(node):
        columns: dict[tuple[str, str], str] = {}

        def choose(each: ast.AST, columns: dict[tuple[str, str], str] = columns) -> ast.AST | None:
            entry = entry_of(each)
            if entry is None:
                return None
            table, column, row = (ast.unparse(part) for part in entry)
            name = columns.setdefault((table, column), f"_{table}_column{len(columns)}")
            return expression(f"{name}[{row}]")

        if swap(loop, choose):
            block[place:place] = [
                line
                for (table, column), name in columns.items()
                for line in lines(f"{name} = {table}[{column}].tolist()")
            ]
            return True
    return False


def table_parts(node: Function) -> bool:
    """`table[table[column] == value]` in a loop: the parts of the table are found once."""
    for block, place, loop in loops_of(node):
        own = {name for statement in loop.body for name in stored_in(statement)}
        for each in ast.walk(loop):
            match each:
                case ast.Subscript(
                    ast.Name(id=table),
                    ast.Compare(
                        ast.Subscript(ast.Name(id=again), ast.Constant() as column),
                        [ast.Eq()],
                        [value],
                    ),
                ) if table == again and table not in own:
                    parts = f"_{table}_parts"
                    part = f"{parts}.get({ast.unparse(value)}, {table}.iloc[:0])"
                    put(loop, ast.unparse(each), part)
                    groups = f"{table}.groupby({ast.unparse(column)})"
                    block[place:place] = lines(f"{parts} = dict(list({groups}))")
                    return True
    return False
