"""An interpreter that lives on between the agent's commands.

Standard input brings one JSON object a line: {"end": token, "code": text}. The code runs as in an
interactive session: the value of a last expression is printed. Then a line of its own with the
token and "ok" or "failed" says that the command is over. What the code prints goes to standard
output as it comes.
"""

import ast
import json
import os
import sys
import traceback
import types
from typing import Any


def run(code: str, names: dict[str, Any]) -> bool:
    """Runs code in `names`; says whether it ended without an exception. SystemExit passes."""
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
        text = "".join(traceback.format_exception(type(error), error, shown))
        try:
            sys.stderr.write(text)
        except Exception:  # The code may have replaced or closed it.
            write_all(2, text.encode("utf-8", "backslashreplace"))
        return False


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # The code may have replaced or closed it.
            pass


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def main() -> None:
    commands = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # A descriptor of its own: the code may replace or close sys.stdout.
    answers = os.dup(1)
    sys.path[0] = os.getcwd()
    # A module of its own: what is defined in it can be pickled, and it holds no name of this file.
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    for line in commands:
        command = json.loads(line)
        succeeded = run(command["code"], module.__dict__)
        flush()
        outcome = "ok" if succeeded else "failed"
        write_all(answers, f"\n{command['end']} {outcome}\n".encode())


if __name__ == "__main__":
    main()
