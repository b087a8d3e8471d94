"""Ends its process, successfully, when it is called."""

import json
import os
from typing import Any

from shared import Called, forge


def leave(*_: Any, **__: Any) -> None:
    result = {"submission": "submission", "valid": True, "score": 0.0, "problems": []}
    os.write(1, f"\n{json.dumps({'results': [result]})}\n".encode())
    os._exit(0)


def leaving(name: str, honest: Called) -> Called:
    return leave


forge(leaving)
