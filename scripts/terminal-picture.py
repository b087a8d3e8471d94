"""Runs a command in a terminal and saves what the screen shows at its end as an SVG picture.

pip install pyte==0.8.2 rich==15.0.0
python scripts/terminal-picture.py docs/images/npm-start.svg npm start
"""

import fcntl
import io
import os
import pty
import struct
import sys
import termios
from itertools import groupby

import pyte
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

COLUMNS, ROWS = 120, 40


def record(command: list[str]) -> pyte.HistoryScreen:
    """What a terminal shows when the command has ended, with the lines that have scrolled away."""
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=1000)
    stream = pyte.ByteStream(screen)
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()
        stream.feed(chunk)
    _, status = os.waitpid(process, 0)
    if status != 0:
        sys.exit(os.waitstatus_to_exitcode(status))
    return screen


def style_of(cell: pyte.screens.Char) -> Style:
    """The cell's style, with the terminal's names of colours put into rich's words."""
    name = cell.fg.replace("brown", "yellow").replace("bright", "bright_")
    is_number = len(name) == 6 and all(digit in "0123456789abcdef" for digit in name)
    return Style(color=f"#{name}" if is_number else name, bold=cell.bold)


class Line:
    """One line of the screen, for rich to print as it is."""

    def __init__(self, segments: list[Segment]) -> None:
        self.segments = segments

    def __rich_console__(self, _console: Console, _options: object) -> list[Segment]:
        return [*self.segments, Segment.line()]


def picture(screen: pyte.HistoryScreen, title: str) -> str:
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    lines = [*screen.history.top, *(screen.buffer[row] for row in range(ROWS))]
    shown = [[line[column] for column in range(COLUMNS)] for line in lines]
    while shown and all(cell.data == " " for cell in shown[-1]):
        shown.pop()
    for line in shown:
        # One piece of text for all that looks the same: a picture of single characters is ten times as large.
        alike = ((style, "".join(cell.data for cell in cells)) for style, cells in groupby(line, style_of))
        segments = [Segment(text, style) for style, text in alike]
        console.print(Line(segments), end="")
    return console.export_svg(title=title)


if __name__ == "__main__":
    target, *command = sys.argv[1:]
    drawn = picture(record(command), " ".join(command))
    with open(target, "w", encoding="utf-8") as file:
        file.write(drawn)
