"""Is this Python? A script: reads source from standard input and compiles it; nothing of it runs.

Prints one JSON object: {"error": null or {"line": number or null, "message": …, "text": …}}.
Hostile source can exhaust memory or the parser's stack: then it ends with another exit code than 0.
"""

import contextlib
import json
import resource
import sys
import warnings

MEMORY_BYTES = 2**30
MOST_TEXT_CHARACTERS = 200


def problem_of(source: bytes) -> dict[str, object] | None:
    """What is wrong with it; compiling also finds what parsing alone lets pass, such as a
    `return` outside of a function."""
    try:
        compile(source, "<source>", "exec", dont_inherit=True)
    except SyntaxError as error:
        text = (error.text or "").strip()
        return {
            "line": error.lineno,
            "message": f"{type(error).__name__}: {error.msg}",
            "text": text[:MOST_TEXT_CHARACTERS],
        }
    except ValueError as error:
        return {"line": None, "message": f"{type(error).__name__}: {error}", "text": ""}
    return None


def main() -> None:
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    print(json.dumps({"error": problem_of(sys.stdin.buffer.read())}))


if __name__ == "__main__":
    main()
