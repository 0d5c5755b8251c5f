"""What Ctrl-C does to a process of ours.

The terminal sends it to all our processes at once. One that is being started would print a traceback of its imports
beside our own message: started within `hold_back`, it gets Ctrl-C once it calls `let_through`, or ends then without a
word if it calls `end_quietly` instead. A command that has nothing to put in order calls `end_at_once`.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator

STOPPED = 130  # as in grader/catalog/errors.py
MAKE_S = 0.1  # seconds
CLEAR = "\r\x1b[2K\x1b[?25h"  # the line that says what is waited for, and the cursor, which it hides


@contextlib.contextmanager
def hold_back() -> Iterator[None]:
    """Hold Ctrl-C back in this thread. A process that it starts meanwhile inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Take Ctrl-C from now on. One that came meanwhile is taken here."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def end_quietly() -> None:
    """Let Ctrl-C end this process from now on, without a message: the process that started it writes one."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    let_through()


def end_at_once(is_make: bool, end: Callable[[int], object] = os._exit) -> None:
    """Let Ctrl-C end this process from now on, with the word "stopped", wherever it is.

    No exception is raised: a library could catch it, as pytest does, or a module that is being imported in C. is_make:
    whether make calls, which at a terminal prints an error of its own after every code but 0. end: gets the exit code.
    """

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if is_make:  # make got Ctrl-C as well: where its child ends before it has seen that, it says that it lost one
            time.sleep(MAKE_S)
        with contextlib.suppress(OSError):
            os.write(2, f"{CLEAR if os.isatty(1) else ''}stopped\n".encode())
        end(0 if is_make and os.isatty(1) and not os.environ.get("CI") else STOPPED)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)


def raise_again() -> None:
    """Let Ctrl-C raise KeyboardInterrupt, as Python does: this command has something to put in order."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
