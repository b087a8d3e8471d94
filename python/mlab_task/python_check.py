"""Does a Python submission parse and define what the task asks for? It is never imported."""

import json
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

from mlab_task.declaration import PythonFile
from mlab_task.problems import Problem, plain

_PARSER = Path(__file__).with_name("python_names.py")
_SECONDS = 20


def check_python(file: BinaryIO, declared: PythonFile) -> list[Problem]:
    """Everything that is wrong with a module, as far as can be determined without running it.

    Parsing hostile source can exhaust memory or the parser's stack: it happens in a separate
    process.
    """
    command = [sys.executable, "-I", str(_PARSER)]
    try:
        parsed = subprocess.run(command, input=file.read(), capture_output=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return [Problem("unreadable", f"{declared.path}: takes too long to parse")]
    if parsed.returncode != 0:
        return [Problem("unreadable", f"{declared.path}: too large or too deeply nested to parse")]
    answer = json.loads(parsed.stdout)
    if "error" in answer:
        return [Problem("unreadable", f"{declared.path}: {plain(answer['error'])}")]
    if "*" in answer["names"]:
        return []
    return [
        Problem("missing_function", f"{declared.path}: defines no function {name} at its top level")
        for name in declared.defines
        if name not in answer["names"]
    ]
