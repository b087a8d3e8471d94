"""Is honest, and leaves processes behind that slow down the next timed submission."""

import os
import threading
import time


def burn() -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        pass


def leave_burning() -> None:
    for _ in range(4):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                burn()
            os._exit(0)


def after_the_answer() -> None:
    time.sleep(3)
    leave_burning()


threading.Thread(target=after_the_answer, daemon=True).start()
