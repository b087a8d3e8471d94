"""Tells whether a function depends on nothing but its arguments, as far as its text shows."""

import ast
import builtins
import re
import types

from automl.speed.record import PLAIN, Unit
from automl.speed.trees import is_stored, names_in

PURE_MODULES = {
    *"cmath collections datetime decimal fractions functools itertools json math operator".split(),
    *"re statistics string unicodedata".split(),
}
CLOCKS = {*"now today utcnow".split()}
IMPURE = {*"delattr eval exec globals id input locals next open print setattr vars".split()}
CHANGING = {
    *"add append appendleft clear discard extend insert pop popitem popleft".split(),
    *"remove reverse setdefault sort update".split(),
}
LEAVING = ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.Import


def changed_in(node: ast.AST) -> set[str]:
    """Names of values that are changed where they are."""
    found = set()
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)):
                found |= {name} if attribute in CHANGING else set()
            case ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)):
                found |= set() if isinstance(each.ctx, ast.Load) else {name}
    return found


def may_change(node: ast.AST, name: str) -> bool:
    """Whether a function changes a result of another one where it is, or passes it on."""
    changed = changed_in(node)
    got: set[str] = set()
    for each in ast.walk(node):
        match each:
            case ast.AugAssign(target=ast.Name(id=target)):
                changed.add(target)
            case ast.Return(value=ast.Call(func=ast.Name(id=called))) if called == name:
                return True
            case ast.Assign(value=ast.Call(func=ast.Name(id=called))) if called == name:
                got |= {part.id for part in ast.walk(each) if is_stored(part)}
            case ast.Call(func=ast.Attribute(attr=way), args=args) if way in CHANGING:
                if any(name in names_in(part) for part in args):
                    return True
    return bool(got & changed)


def is_pure(unit: Unit, units: list[Unit], within: tuple[str, ...] = ()) -> bool:
    """Whether it reads only what never changes, and calls only what is pure."""
    own = {each.id for each in ast.walk(unit.node) if is_stored(each)}
    own |= {each.arg for each in ast.walk(unit.node) if isinstance(each, ast.arg)}
    if any(isinstance(each, LEAVING) for each in ast.walk(unit.node)):
        return False
    if any(isinstance(each, ast.Attribute) and each.attr in CLOCKS for each in ast.walk(unit.node)):
        return False
    names = {each.id for each in ast.walk(unit.node) if isinstance(each, ast.Name)} - own
    return all(is_fixed(name, unit, units, (*within, unit.name)) for name in names)


def is_fixed(name: str, unit: Unit, units: list[Unit], within: tuple[str, ...]) -> bool:
    if name in within:
        return True
    if name not in unit.globals:
        return hasattr(builtins, name) and name not in IMPURE
    value = unit.globals[name]
    function = next((each for each in units if each.name == name and not each.owner), None)
    if function is not None:
        return is_pure(function, units, within)
    if isinstance(value, types.ModuleType):
        return value.__name__ in PURE_MODULES
    if isinstance(value, list | dict | set | tuple):
        return not any(name in changed_in(each.node) for each in units)
    is_known = getattr(value, "__module__", None) in PURE_MODULES
    return isinstance(value, (*PLAIN, re.Pattern, frozenset)) or (callable(value) and is_known)
