"""Runs a learner's source as a module, one top-level statement after the other.

A statement that fails is left out, and the next ones run: what counts is what the source defines in the end. So does
a notebook go on with the next cell. A statement that takes too long is stopped by a clock whose ticks are signals.
Code that ignores them is stopped from outside: see grader/sandbox/loaded_channel.py.
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

TICK_S = 0.05  # from one look at the clock to the next
SHARE = 0.5  # of the time that is left for all, one statement may take
FUTURES = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
IMPORTS = (ast.Import, ast.ImportFrom)  # of what is here, none runs a learner's code: they last as long as they last


class TookTooLong(BaseException):
    """A statement was stopped. No `except Exception` of a learner's is meant to catch it."""

    def __init__(self, seconds: float):
        super().__init__(f"stopped after {seconds:g} s")
        self.seconds = seconds


class Loading:
    """A source on its way to be a module. `failed`: (first line of the statement, the exception), in order.

    cells: it is a notebook's, whose cells are compiled one by one; a file that does not compile as a whole is refused.
    skip: numbers of the statements that are not run. seconds: of the processor, or asleep, for all statements
    together; None sets no limit. Raises SyntaxError and the like where the source does not compile.
    """

    def __init__(self, source: str, filename: str, cells: bool = False, skip: list = (), seconds: float | None = None):
        tree = ast.parse(source, filename)
        if not cells:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those that a statement deserves are told when it is compiled
                compile(tree, filename, "exec", dont_inherit=True)
        self.filename, self.skip, self.seconds = filename, frozenset(skip), seconds
        self.statements: Iterator[tuple[int, ast.stmt]] = enumerate(tree.body)
        self.failed: list[tuple[int, BaseException]] = []
        self.flags, self.clock = 0, Clock()

    def run(self, module: types.ModuleType, most: int | None = None) -> bool:
        """Run the next `most` statements, or all. Whether there are more."""
        with self.clock.ticking() if self.seconds else contextlib.nullcontext():
            for number, statement in self.statements:
                if number not in self.skip and not (number and _is_text(statement)):
                    self._run(statement, module)
                most = most and most - 1
                if most == 0:
                    return True
        return False

    def _run(self, statement: ast.stmt, module: types.ModuleType) -> None:
        try:
            code = compile(ast.Module([statement], []), self.filename, "exec", self.flags, dont_inherit=True)
            self.flags |= code.co_flags & FUTURES  # `from __future__` holds for all that follows
            try:
                self.clock.limit(None if isinstance(statement, IMPORTS) else self.seconds)
                exec(code, module.__dict__)
            finally:
                self.clock.limit(None)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too
            self.failed.append((_first_line(statement), error))


class Clock:
    """Stops what takes too long: a share of what is left of the seconds that it has used for others."""

    def __init__(self) -> None:
        self.used = 0.0  # seconds of the processor, or asleep, by all statements so far
        self.most: float | None = None
        self.began = self.seen = self.awake = 0.0

    def limit(self, seconds: float | None) -> None:
        """From now on a statement runs for which this is left of `seconds`; None: none does."""
        now = time.process_time()
        if self.most is not None:
            self.used += max(now - self.began, time.monotonic() - self.awake)
        self.most = None if seconds is None else max(seconds - self.used, TICK_S) * SHARE
        self.began, self.seen, self.awake = now, now, time.monotonic()

    @contextlib.contextmanager
    def ticking(self) -> Iterator[None]:
        """Listen to the ticks meanwhile."""
        signal.signal(signal.SIGALRM, self._look)
        try:
            yield
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)

    def _look(self, *_: object) -> None:
        if self.most is None:
            return
        now = time.process_time()
        if now - self.seen > TICK_S / 10:
            self.seen, self.awake = now, time.monotonic()
        if max(now - self.began, time.monotonic() - self.awake) >= self.most:
            raise TookTooLong(round(self.most, 2))


def arm() -> None:
    """Begin to tick, unheard. The walls of the sandbox let nobody set a timer: this is done before they stand."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)


def _is_text(statement: ast.stmt) -> bool:
    """A text that stands alone; the first of a file is its docstring, and on its own each would be."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _first_line(statement: ast.stmt) -> int:
    return min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
