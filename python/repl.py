"""An interpreter that keeps its state between the agent's commands.

Two processes: the first one never runs the agent's code. It reads standard input, one JSON object
per line: {"end": token, "code": text}, and passes the code to the second one. When that one has
finished, the first writes a line with the token and "ok" or "failed" to standard output. So the
token is never in a process that the code can inspect, and the code can't print such a line itself.
The code runs in the second process as in an interactive session: the value of a last expression is
printed. Its output goes straight to standard output.
"""

import ast
import json
import os
import select
import signal
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any, NoReturn

# From linux/prctl.h.
SET_PARENT_DEATH_SIGNAL = 1
SET_DUMPABLE = 4


def run(code: str, names: dict[str, Any]) -> bool:
    """Runs code in `names`; returns whether it ended without an exception. SystemExit passes."""
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


def set_process(option: int, value: int) -> None:
    """Asks the kernel for a property of this process; does nothing if prctl is missing."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, AttributeError, OSError):
        pass


def interpret(commands: int, answers: int) -> None:
    """The second process: runs codes, each preceded by its length, and answers each with a byte."""
    sys.path[0] = os.getcwd()
    # A separate module: what is defined in it can be pickled, and it has no names of this file.
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    with os.fdopen(commands, "rb") as stream:
        while size := stream.readline():
            succeeded = run(
                stream.read(int(size)).decode("utf-8", "surrogatepass"), module.__dict__
            )
            flush()
            write_all(answers, b"o" if succeeded else b"f")


class Interpreter:
    """The second process, as the first one sees it."""

    def __init__(self) -> None:
        to_child, self.commands = os.pipe()
        self.answers, from_child = os.pipe()
        # Written to when a child has ended, even if others still hold its pipes open.
        self.ends, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        self.pid = os.fork()
        if self.pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in (self.commands, self.answers, self.ends, wakes):
                os.close(descriptor)
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
            set_process(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            interpret(to_child, from_child)
            sys.exit()
        os.close(to_child)
        os.close(from_child)

    def run(self, code: str) -> bool:
        """Runs code to its end; if the process ends, this one ends in the same way."""
        text = code.encode("utf-8", "surrogatepass")
        # Discards unsolicited answers.
        while select.select([self.answers], [], [], 0)[0] and os.read(self.answers, 4096):
            pass
        try:
            write_all(self.commands, b"%d\n%b" % (len(text), text))
        except BrokenPipeError:
            self.end_alike()
        while True:
            ready, _, _ = select.select([self.answers, self.ends], [], [])
            if self.answers in ready:
                if answer := os.read(self.answers, 1):
                    return answer == b"o"
                self.end_alike()
            if self.ends in ready:
                self.hear_end()

    def hear_end(self) -> None:
        """A child has ended, or stopped: perhaps the process."""
        os.read(self.ends, 4096)
        self.end_alike(os.WNOHANG)

    def end_alike(self, options: int = 0) -> None:
        """Ends in the same way as the process; returns only if that has not ended."""
        pid, status = os.waitpid(self.pid, options)
        if pid == 0:
            return
        if os.WIFSIGNALED(status):
            end_by(os.WTERMSIG(status))
        os._exit(os.WEXITSTATUS(status))


def end_by(number: int) -> NoReturn:
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def read_lines(interpreter: Interpreter) -> Iterator[bytes]:
    """The lines of standard input. If the interpreter ends between two, so does this process."""
    pieces: list[bytes] = []
    while True:
        ready, _, _ = select.select([0, interpreter.ends], [], [])
        if interpreter.ends in ready:
            interpreter.hear_end()
        if 0 not in ready:
            continue
        piece = os.read(0, 2**16)
        if not piece:
            return
        *whole, rest = piece.split(b"\n")
        for end in whole:
            yield b"".join([*pieces, end])
            pieces = []
        pieces.append(rest)


def main() -> None:
    interpreter = Interpreter()
    # From here on no process of the same user can inspect this one, or take its descriptors.
    set_process(SET_DUMPABLE, 0)
    # A termination signal goes to all processes; the agent's code decides how to react.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in read_lines(interpreter):
        command = json.loads(line)
        outcome = "ok" if interpreter.run(command["code"]) else "failed"
        write_all(1, f"\n{command['end']} {outcome}\n".encode())
    os.kill(interpreter.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
