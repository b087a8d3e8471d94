"""What is wrong with a submission, in codes that the harness knows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

CODES = frozenset(
    {
        "missing_file",
        "not_a_file",
        "too_large",
        "unreadable",
        "missing_function",
        "wrong_columns",
        "missing_ids",
        "duplicate_ids",
        "extra_ids",
        "not_a_number",
        "not_finite",
        "out_of_range",
        "not_allowed",
        "wrong_shape",
        "wrong_output",
        "timed_out",
        "crashed",
    }
)
# Stands for every other code that a task's grader uses.
OWN_CODE = "not_allowed"

EXAMPLES = 3
LONGEST_LINES = 4_000
LONGEST_MESSAGE = 1_000


@dataclass(frozen=True)
class Problem:
    """
    One thing that is wrong, with a message for the person or agent who can correct it. Only the
    beginning of a message that a submission made long is kept.
    """

    code: str
    message: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is no problem code")
        if len(self.message) > LONGEST_MESSAGE:
            object.__setattr__(self, "message", self.message[:LONGEST_MESSAGE] + "...")


class Rejected(Exception):
    """
    Raised by a score function: the submission is invalid, and this is why. A code that is not in
    CODES is kept in the message, so that a task's own word is no failure of its grader.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        known = code in CODES
        self.problem = Problem(*((code, message) if known else (OWN_CODE, f"{code}: {message}")))


@dataclass
class Tally:
    """Counts how often one thing went wrong, keeping the first few examples."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)

    def describe(self) -> str:
        """The examples, and how many more there are."""
        rest = self.count - len(self.examples)
        more = f" and {rest:,} more" if rest else ""
        return ", ".join(self.examples) + more


def quoted(text: str, longest: int = 40) -> str:
    """Untrusted text, shortened and without control sequences for a terminal."""
    return ascii(text if len(text) <= longest else text[:longest] + "...")


def plain(text: str, longest: int = 500) -> str:
    """Untrusted text of several lines, its end kept, as printable ASCII on one line."""
    printable = "".join(letter if " " <= letter <= "~" else " " for letter in text)
    words = " ".join(printable.split())
    return words if len(words) <= longest else "... " + words[-longest:]


def plain_lines(text: str, longest: int = 500) -> str:
    """The same with its line breaks kept."""
    lines = [
        "".join(letter if " " <= letter <= "~" else " " for letter in line).rstrip()
        for line in text.strip().splitlines()
    ]
    joined = "\n".join(line for line in lines if line)
    return joined if len(joined) <= longest else "..." + joined[-longest:]


def listed(names: Sequence[str]) -> str:
    """Up to a few names for a message."""
    tally = Tally()
    for name in names:
        tally.add(quoted(name))
    return tally.describe()
