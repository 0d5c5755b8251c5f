"""Runs a learner's source as a module, one top-level statement after the other.

A statement that fails is left out and the next ones run, as in a notebook, because only what the source defines in the
end is graded. A statement that takes too long is stopped by a clock that a periodic signal drives. Code that ignores
the signal is stopped from outside: see grader/sandbox/loaded_channel.py.
"""

import __future__

import ast
import contextlib
import functools
import operator
import signal
import time
import types
import warnings
from collections.abc import Iterator

TICK_S = 0.05  # seconds between two readings of the clock
SHARE = 0.5  # the part of the time left for all statements that one statement may take
FUTURES = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
IMPORTS = (ast.Import, ast.ImportFrom)  # not limited, since none of the importable modules runs a learner's code


class TookTooLong(BaseException):
    """A statement was stopped. A BaseException, so that an `except Exception` of the learner's does not catch it."""

    def __init__(self, seconds: float):
        super().__init__(f"stopped after {seconds:g} s")
        self.seconds = seconds


class Loading:
    """Runs the statements of one source. `failed`: (first line of the statement, the exception), in order.

    cells: whether the source is a notebook's, whose cells are compiled one by one; another source must compile as a
    whole. skip: the numbers of the statements that are not run. seconds: the time of the processor, or asleep, that all
    statements together may take; None sets no limit. Raises SyntaxError or ValueError where it does not compile.
    """

    def __init__(self, source: str, filename: str, cells: bool = False, skip: list = (), seconds: float | None = None):
        tree = ast.parse(source, filename)
        if not cells:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they appear once, when each statement is compiled
                compile(tree, filename, "exec", dont_inherit=True)
        self.filename, self.skip, self.seconds = filename, frozenset(skip), seconds
        self.statements: Iterator[tuple[int, ast.stmt]] = enumerate(tree.body)
        self.failed: list[tuple[int, BaseException]] = []
        self.flags, self.clock = 0, Clock()

    def run(self, module: types.ModuleType, max_statements: int | None = None) -> bool:
        """Run the next `max_statements` statements, or all of them. Returns whether there may be more."""
        with self.clock.ticking() if self.seconds else contextlib.nullcontext():
            for number, statement in self.statements:
                if number not in self.skip and not (number and _is_text(statement)):
                    self._run(statement, module)
                max_statements = max_statements and max_statements - 1
                if max_statements == 0:
                    return True
        return False

    def _run(self, statement: ast.stmt, module: types.ModuleType) -> None:
        try:
            code = compile(ast.Module([statement], []), self.filename, "exec", self.flags, dont_inherit=True)
            self.flags |= code.co_flags & FUTURES  # `from __future__` applies to all statements that follow
            try:
                self.clock.limit(None if isinstance(statement, IMPORTS) else self.seconds)
                exec(code, module.__dict__)
            finally:
                self.clock.limit(None)
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            self.failed.append((_first_line(statement), error))


class Clock:
    """Stops a statement that takes more than its share of the time that is left for all statements."""

    def __init__(self) -> None:
        self.used = 0.0  # seconds of the processor, or asleep, that all statements so far have taken
        self.most: float | None = None  # seconds that the current statement may take
        # The processor time at the statement's start and at the last reading, and when it last used the processor.
        self.began = self.last_reading = self.awake = 0.0

    def limit(self, seconds: float | None) -> None:
        """Begin a statement with what is left of `seconds`, the limit for all; with None, end the current one."""
        now = time.process_time()
        if self.most is not None:
            self.used += max(now - self.began, time.monotonic() - self.awake)
        self.most = None if seconds is None else max(seconds - self.used, TICK_S) * SHARE
        self.began, self.last_reading, self.awake = now, now, time.monotonic()

    @contextlib.contextmanager
    def ticking(self) -> Iterator[None]:
        """Handle the periodic signal within the block."""
        signal.signal(signal.SIGALRM, self._tick)
        try:
            yield
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)

    def _tick(self, *_: object) -> None:
        """The signal handler. Raises TookTooLong in the statement that runs."""
        if self.most is None:
            return
        now = time.process_time()
        if now - self.last_reading > TICK_S / 10:
            self.last_reading, self.awake = now, time.monotonic()
        if max(now - self.began, time.monotonic() - self.awake) >= self.most:
            raise TookTooLong(round(self.most, 2))


def arm() -> None:
    """Start the periodic signal, which the fork server ignores. The sandbox refuses timers, so this comes before it."""
    signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is only a constant. Compiled by itself, a text would become the module's docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _first_line(statement: ast.stmt) -> int:
    return min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
