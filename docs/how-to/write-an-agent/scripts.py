"""What an agent reads of scripts, and of what they print."""

import re


def printed_accuracy(text: str) -> float:
    """The last that is printed; 0 where there is none."""
    found = re.findall(r"accuracy: ([0-9.]+)", text)
    return float(found[-1]) if found else 0.0


def with_doubled(script: str, constant: str) -> str | None:
    """None where the script has no such constant."""
    line = re.compile(rf"^{re.escape(constant)} = (\d+)$", re.MULTILINE)
    found = line.search(script)
    return None if found is None else line.sub(f"{constant} = {2 * int(found[1])}", script)
