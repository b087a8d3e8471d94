"""Tables of pandas in a form that is faster to read, row by row."""

import ast

from automl.speed.record import Function
from automl.speed.trees import expression, is_stored, lines, loops_of, put, stored_in, swap


def table_rows(node: Function) -> bool:
    """Rows as dictionaries."""
    found = 0
    for block, place, loop in loops_of(node):
        for each in list(ast.walk(loop)):
            match each:
                case ast.Subscript(ast.Attribute(ast.Name(id=table), "iloc"), ast.Name(id=row)):
                    found += put(loop, f"{table}.iloc[{row}]", f"_{table}_dicts[{row}]")
                    block[place:place] = lines(f"_{table}_dicts = {table}.to_dict('records')")
                    break

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

    return swap(node, choose) + found > 0


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
        ) if isinstance(column, ast.Constant):
            return table, column, row
    return None


def table_entries(node: Function) -> bool:
    """Entries by number, in a loop: lists of the columns, which take the place of what changes."""
    for block, place, loop in loops_of(node):
        columns: dict[str, str] = {}
        written: set[str] = set()

        def choose(
            each: ast.AST, columns: dict[str, str] = columns, written: set[str] = written
        ) -> ast.AST | None:
            entry = entry_of(each)
            if entry is None or not isinstance(each, ast.Subscript):
                return None
            table, column, row = entry
            text = f"{ast.unparse(table)}[{ast.unparse(column)}]"
            name = columns.setdefault(text, f"_{ast.unparse(table)}_column{len(columns)}")
            written |= {text} if isinstance(each.ctx, ast.Store) else set()
            return ast.Subscript(ast.Name(name, ast.Load()), row, each.ctx)

        if swap(loop, choose):
            for text in sorted(written):
                block[place + 1 : place + 1] = lines(f"{text} = {columns[text]}")
            for text, name in columns.items():
                block[place:place] = lines(f"{name} = {text}.tolist()")
            return True
    return False


def table_arrays(node: Function) -> bool:
    """Tables that a loop only reads: their columns as arrays."""
    for block, place, loop in loops_of(node):
        own = {name for statement in loop.body for name in stored_in(statement)}
        own |= {each.id for each in ast.walk(loop) if is_stored(each)}
        tables = {
            each.value.id
            for each in ast.walk(loop)
            if isinstance(each, ast.Subscript)
            and isinstance(each.value, ast.Name)
            and isinstance(each.slice, ast.Constant)
            and not each.value.id.startswith("_")
        }
        for table in sorted(tables - own):
            for statement in loop.body:
                put(statement, table, f"_{table}_columns")
            block[place:place] = lines(f"_{table}_columns = _columns({table})")
        if tables - own:
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
                    part = f"{parts}.get({ast.unparse(value)}, {table}[:0])"
                    put(loop, ast.unparse(each), part)
                    groups = f"{table}.groupby({ast.unparse(column)})"
                    block[place:place] = lines(f"{parts} = dict(list({groups}))")
                    return True
    return False
