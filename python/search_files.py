"""Prints the lines of text files below a folder, or of one file, that match a regular expression.

Usage: search_files.py PATTERN PLACE (relative to the current directory).
Exit code 1: the pattern is invalid.
"""

import os
import re
import sys
from collections.abc import Iterator

MOST_MATCHES = 200
MOST_LINE_CHARACTERS = 300
LARGEST_FILE_BYTES = 50_000_000


def text_files(folder: str) -> Iterator[str]:
    if os.path.isfile(folder):
        yield folder
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)
            if os.path.isfile(path) and os.path.getsize(path) <= LARGEST_FILE_BYTES:
                yield path


def matches(path: str, pattern: re.Pattern[str]) -> Iterator[str]:
    with open(path, "rb") as file:
        if b"\0" in file.read(4096):
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if pattern.search(text):
                shown = (
                    text if len(text) <= MOST_LINE_CHARACTERS else text[:MOST_LINE_CHARACTERS] + "…"
                )
                yield f"{os.path.relpath(path)}:{number}: {shown}"


def main() -> int:
    try:
        pattern = re.compile(sys.argv[1])
    except (re.error, RecursionError, OverflowError) as error:
        print(f"The pattern is not a Python regular expression: {error}.")
        return 1
    # A file name may be any bytes, and a line may not be text.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    count = 0
    for path in text_files(sys.argv[2]):
        try:
            for line in matches(path, pattern):
                count += 1
                if count > MOST_MATCHES:
                    print(f"[more than {MOST_MATCHES} matches: use a narrower pattern or folder]")
                    return 0
                print(line)
        except OSError:
            continue
    if count == 0:
        print("No line matches.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
