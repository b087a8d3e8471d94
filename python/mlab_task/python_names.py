"""A script: reads Python source from standard input, prints the names bound at its top level."""

import ast
import contextlib
import json
import resource
import sys

_MEMORY_BYTES = 2**30
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def top_level_names(body: list[ast.stmt]) -> set[str]:
    """Names that a module may bind when it is imported; `*` stands for a star import."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, _OWN_SCOPE):
            names.add(statement.name)
            continue
        if isinstance(statement, ast.Assign):
            names |= {name for target in statement.targets for name in _targets(target)}
        elif isinstance(statement, ast.AnnAssign):
            names |= _targets(statement.target)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in statement.names}
        for part in ("body", "orelse", "finalbody"):
            names |= top_level_names(getattr(statement, part, []))
        for branch in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            names |= top_level_names(branch.body)
    return names


def _targets(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def main() -> None:
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer: dict[str, object]
    try:
        answer = {"names": sorted(top_level_names(ast.parse(sys.stdin.buffer.read()).body))}
    except (SyntaxError, ValueError) as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
