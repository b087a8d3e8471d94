"""An interpreter that lives on between the agent's commands.

Standard input brings one JSON object a line: {"end": token, "code": text}. The code runs as in an interactive
session: the value of a last expression is printed. Then a line of its own with the token and "ok" or "failed" says
that the command is over. What the code prints goes to standard output as it comes.
"""

import ast
import json
import os
import sys
import traceback
from typing import Any


def run(code: str, names: dict[str, Any]) -> bool:
    """Runs code in `names`; returns whether it ended without an exception. SystemExit passes through."""
    try:
        tree = ast.parse(code, "<repl>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<repl>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<repl>", "eval"), names)
            if value is not None:
                print(repr(value))
            names["_"] = value
        return True
    except SystemExit:
        raise
    except BaseException as error:
        # The first frame is this file; the agent needs only its own.
        shown = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, shown)
        return False


def main() -> None:
    commands = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.path.insert(0, os.getcwd())
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    for line in commands:
        command = json.loads(line)
        succeeded = run(command["code"], names)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        outcome = "ok" if succeeded else "failed"
        # Written to the descriptor itself: the code may have replaced sys.stdout.
        os.write(1, f"\n{command['end']} {outcome}\n".encode())


if __name__ == "__main__":
    main()
