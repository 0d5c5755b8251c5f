"""A learner's source as a module: it is run here, and its names and exceptions are read as plain data."""

import __future__

import ast
import builtins
import contextlib
import difflib
import itertools
import linecache
import signal
import sys
import time
import traceback
import types
import warnings
from collections.abc import Iterator

from . import kernels, protocol
from .surroundings import display, get_ipython

TICK_S = 0.05  # seconds between two readings of the clock
SHARE = 0.5  # the part of the time left for all statements that one statement may take
FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})  # each is a bit
WITHOUT_HINTS = __future__.annotations.compiler_flag
HINTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AnnAssign)
IMPORTS = (ast.Import, ast.ImportFrom)  # not limited, since none of the importable modules runs a learner's code
MAX_MESSAGE = 2_000  # characters of an exception's text
MAX_FRAMES = 6
MOST_NAMES = 2_000  # that are compared with one that is missing
SHORT = 3  # letters; so short a name is near many of Python's own
MAX_FAILED = 100  # failed statements in one reply
MAX_NAMES = 100
BUILTIN_CLASSES = {id(kind) for kind in vars(builtins).values() if isinstance(kind, type)}


class TookTooLong(BaseException):
    """A statement was stopped. A BaseException, so that an `except Exception` of the learner's does not catch it."""

    def __init__(self, seconds: float):
        super().__init__(f"stopped after {seconds:g} s")
        self.seconds = seconds


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


class SubmittedSource:
    """One source, which runs as a module of the given name. filename: the one that tracebacks show.

    statements: those that are still to be run, by number; flags: of the `from __future__` that were run.
    """

    def __init__(self, filename: str = "", name: str = "submission"):
        self.filename, self.module = filename, types.ModuleType(name)
        self.lines: list[str] = []
        self.statements: Iterator[tuple[int, ast.stmt]] = iter(())
        self.skip: frozenset[int] = frozenset()
        self.seconds: float | None = None  # of the processor, or asleep, that all statements together may take
        self.flags, self.clock = 0, Clock()

    def begin(self, request: protocol.Load) -> None:
        """Register the source and compile it: a notebook's cells one by one, another source as a whole.

        Raises SyntaxError or ValueError where it does not compile. `explain` works in this case too.
        """
        self.place(request.source)
        tree = ast.parse(request.source, self.filename)
        if not request.cells:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they appear once, when each statement is compiled
                compile(tree, self.filename, "exec", dont_inherit=True)
        self.statements, self.skip, self.seconds = enumerate(tree.body), frozenset(request.skip), request.seconds

    def place(self, text: str) -> None:
        """Register the source where Python looks for it: its module in sys.modules, its lines in linecache."""
        self.lines = text.splitlines()
        linecache.cache[self.filename] = (len(text), None, text.splitlines(True), self.filename)
        self.module.__file__ = self.filename
        sys.modules[self.module.__name__] = self.module  # dataclasses and pickling look there
        self.module.__dict__.update(display=display, get_ipython=get_ipython)

    def run_whole(self, text: str) -> None:
        """Run a trusted source as a whole, which takes less than half of the time. Exceptions in it are raised."""
        self.place(text)
        exec(compile(text, self.filename, "exec", dont_inherit=True), self.module.__dict__)

    def run(self, max_statements: int | None) -> protocol.Reply:
        """Run the next `max_statements` statements, or all of them.

        The reply lists the statements that failed and, after the last statement, the names that the source defines.
        """
        now, failed = list(itertools.islice(self.statements, max_statements)), list[tuple[ast.stmt, BaseException]]()
        with self.clock.ticking() if self.seconds else contextlib.nullcontext():
            for number, statement in now:
                is_run = number not in self.skip and not (number and _is_text(statement))
                if is_run and (error := self._run(statement)) is not None:
                    failed.append((statement, error))
        left_out = [
            [_first_line(statement), error.seconds if type(error) is TookTooLong else 0.0, self.explain(error)]
            for statement, error in failed[:MAX_FAILED]
        ]
        return protocol.Reply(left_out=left_out or None, names=None if len(now) == max_statements else self.names())

    def _compile(self, statement: ast.stmt, flags: int) -> types.CodeType:
        return compile(ast.Module([statement], []), self.filename, "exec", flags, dont_inherit=True)

    def _run(self, statement: ast.stmt) -> BaseException | None:
        """Run a statement. Returns what it raised, unless that ends a program that went well: the rest is run then."""
        try:
            code = self._compile(statement, self.flags)
            self.flags |= code.co_flags & FUTURES  # `from __future__` applies to all statements that follow
            try:
                self.clock.limit(None if isinstance(statement, IMPORTS) else self.seconds)
                exec(code, self.module.__dict__)
            except NameError:
                if not isinstance(statement, HINTED) or self.flags & WITHOUT_HINTS:
                    raise
                # A hint that comes from a package or file that is not here computes nothing.
                exec(self._compile(statement, self.flags | WITHOUT_HINTS), self.module.__dict__)
            finally:
                self.clock.limit(None)
        except SystemExit as error:
            return None if error.code in (None, 0) else error
        except BaseException as error:  # also KeyboardInterrupt
            return error
        return None

    def names(self) -> list[str]:
        """The sorted names of the public functions and classes that the source itself defines, at most MAX_NAMES."""
        return sorted(
            name
            for name, value in self.module.__dict__.items()
            if callable(value)
            and not name.startswith("_")
            and getattr(value, "__module__", None) == self.module.__name__
            and type(value).__module__ != self.module.__name__  # a layer that was made of a class is no definition
        )[:MAX_NAMES]

    def explain(self, error: BaseException) -> dict:
        """An exception as plain data: its type, its text, and those of its frames that lie in the learner's source.

        Of one that was raised in a kernel, that is the exception itself, with the frames that led to the launch before
        those in the kernel.
        """
        frames, chain = [], kernels.causes(error)
        for error in chain:
            trace = error.__traceback__
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == self.filename:
                    line = trace.tb_lineno
                    text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
                    frames.append([line, trace.tb_frame.f_code.co_name, text[:200]])
                trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            frames.append([error.lineno or 0, "", (error.text or "").rstrip()[:200]])
        if len(frames) > MAX_FRAMES:
            frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
        bases = [base for base in type(error).__mro__ if base is not object]
        return {
            "type": type(error).__name__[:100],
            "bases": [_qualified_name(base)[:100] for base in bases[:10]],
            "message": _message(error) + _meant(error),
            "missing_module": self._missing_module(error),
            "frames": frames,
        }

    def _missing_module(self, error: BaseException) -> str | None:
        """The module that is not there. One with the name of the source itself is another file of the learner's."""
        if not isinstance(error, ImportError) or not error.name:
            return None
        is_missing = isinstance(error, ModuleNotFoundError) or error.name == self.module.__name__
        return str(error.name)[:100] if is_missing else None


def _qualified_name(kind: type) -> str:
    """The name of a class, with its module unless it is a builtin, so that classes of the same name differ."""
    return kind.__name__ if id(kind) in BUILTIN_CLASSES else f"{kind.__module__}.{kind.__qualname__}"


def _meant(error: BaseException) -> str:
    """A name that is close to the missing one, as Python asks: " Did you mean: …"."""
    name = getattr(error, "name", None) if type(error) in (NameError, UnboundLocalError, AttributeError) else None
    if not isinstance(name, str):
        return ""
    try:
        if isinstance(error, AttributeError):
            names = dir(error.obj)
        else:
            frame, _ = list(traceback.walk_tb(error.__traceback__))[-1]
            names = [*frame.f_locals, *frame.f_globals]
            if len(name) > SHORT:
                names += dir(builtins)
        names = [other[:40] for other in names[:MOST_NAMES] if not other.startswith("_") and other != name]
        close = difflib.get_close_matches(name[:40], names, 1)
        return f". Did you mean: {close[0]!r}?".encode(errors="replace").decode() if close else ""
    except BaseException:  # the __dir__ of a learner's class may raise anything
        return ""


def _message(error: BaseException) -> str:
    try:
        is_of_syntax = type(error) in (SyntaxError, IndentationError, TabError)
        text = getattr(error, "msg", "") if is_of_syntax else str(error)
        if type(error) is ImportError and error.path:
            text = text.removesuffix(f" ({error.path})")  # where the package lies here
        return text[:MAX_MESSAGE].encode(errors="replace").decode()
    except BaseException:  # the __str__ of a learner's class may raise anything
        return "(the exception's text could not be read)"
