"""Keeps Ctrl-C from a process that is being started: it would print a traceback of its imports beside our own message.

The terminal sends Ctrl-C to all our processes at once. One that is started within `hold_back` gets it once it calls
`let_through`, or ends then without a word if it calls `end_quietly` instead.
"""

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def hold_back() -> Iterator[None]:
    """Hold Ctrl-C back in this thread. A process that it starts meanwhile inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Take Ctrl-C from now on, as KeyboardInterrupt. One that came meanwhile is raised here."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def end_quietly() -> None:
    """Let Ctrl-C end this process from now on, without a message: the process that started it writes one."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    let_through()
