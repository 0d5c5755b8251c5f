"""What a learner's code finds around it: stand-ins, no keyboard, and a stream that keeps what it prints.

IPython's functions, progress bars, debug prints and shape annotations compute nothing: code that uses them computes the
same without them, so their stand-ins have no effect. Modules that compute have none. torch.compile gives back what it
is given, since a compiled function answers as the plain one. Code that waits for the keyboard ends at the line that
waits, since nobody can type where code is graded. Each warning is shown once, in one line with the learner's code.
"""

import builtins
import io
import linecache
import pdb
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from typing import Any

import torch

WAITS = re.compile(r"(breakpoint\(\)|pdb\.set_trace\(\)|input\(\)) waits for the keyboard")
SIGN = "warning: "  # how the line of a warning begins
MAX_CODE = 80  # characters of the learner's line
shown: set[str] = set()
MAX_OUTPUT = 10_000  # printed characters that are kept


def display(*objects: object, **options: object) -> None:
    """Accept any arguments and show nothing."""


def get_ipython() -> "Shell":
    """The stand-in for the IPython shell."""
    return SHELL


class Shell:
    """A shell each of whose methods accepts any arguments and returns None."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return display


SHELL = Shell()


class Progress:
    """A progress bar that shows nothing: it iterates over what it is given. Its methods accept any arguments."""

    write = staticmethod(print)
    pandas = staticmethod(display)

    def __init__(self, iterable: Iterable[Any] = (), *_: object, **__: object):
        self.iterable = () if iterable is None else iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return display


class Shape:
    """A type with a shape, as Float[Tensor, "batch seq"]. It says nothing: no value is compared with it."""

    def __class_getitem__(cls, _: object) -> type:
        return object


def progress_range(*limits: int, **_: object) -> Progress:
    """The stand-in for trange."""
    return Progress(range(*limits))


def printed(*values: Any) -> Any:
    """The stand-in for icecream's ic, which gives back what it shows."""
    return values[0] if len(values) == 1 else values or None


def unchanged(function: Any = None, *_: object, **__: object) -> Any:
    """A decorator, with or without options, that leaves the function as it is."""
    return function if function is not None else unchanged


def install() -> None:
    """Make the stand-ins importable in this process and its forks, and torch.compile one of them."""
    torch.compile = torch.compiler.disable = unchanged  # type: ignore[assignment]
    bars = {"tqdm": Progress, "trange": progress_range}
    notebook = {"tqdm_notebook": Progress, "tnrange": progress_range}
    parts = {
        name: _add_module(f"tqdm.{name}", **bars) for name in ("auto", "notebook", "autonotebook", "std", "asyncio")
    }
    _add_module("tqdm", __path__=[], **bars, **notebook, **parts)
    _add_module("icecream", ic=printed)
    _add_module("loguru", logger=SHELL)
    _add_module("beartype", beartype=unchanged)
    _add_module("typeguard", typechecked=unchanged)
    _add_module("jaxtyping", jaxtyped=unchanged, __getattr__=_shape)


def _shape(name: str) -> type[Shape]:
    if name.startswith("__"):
        raise AttributeError(name)
    return Shape


def _add_module(name: str, **names: Any) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # torch._dynamo asks for those of tqdm
    module.__dict__.update(names)
    return module


def end_at_keyboard() -> None:
    """Replace what waits for the keyboard in this process and its forks, and add what Python has for it elsewhere."""
    vars(builtins).update(exit=sys.exit, quit=sys.exit)
    sys.breakpointhook = _ending("breakpoint()")
    builtins.input = _ending("input()")  # type: ignore[assignment]
    pdb.set_trace = _ending("pdb.set_trace()")


def _ending(name: str) -> Callable[..., None]:
    def end(*_: object, **__: object) -> None:
        raise EOFError(f"{name} waits for the keyboard")

    return end


def show_warnings_once() -> None:
    """Show warnings in this way, in this process and its forks."""
    warnings.showwarning = _show  # type: ignore[assignment]


def _show(message: Warning, category: type, filename: str, lineno: int, file: object = None, line: object = None):
    text = " ".join(str(message).split())
    if text not in shown:
        shown.add(text)
        code = _own_code(filename, lineno)
        print(f"{SIGN}{text}{f' (at `{code}`)' if code else ''}", file=sys.stderr)


def _own_code(filename: str, lineno: int) -> str:
    """The line of the learner's from which the warning comes; "" where there is none."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and not _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    place = (filename, lineno) if _is_own(filename) else (frame.f_code.co_filename, frame.f_lineno) if frame else None
    return linecache.getline(*place).strip()[:MAX_CODE] if place else ""


def _is_own(filename: str) -> bool:
    """Whether a file is a submitted one, whose lines are in linecache alone: there it has no time."""
    cached = linecache.cache.get(filename, (0, 0))
    return len(cached) > 1 and cached[1] is None


class Output(io.TextIOBase):
    """A text stream that keeps the first `room` characters of what is written to it and counts the others."""

    def __init__(self):
        self.parts, self.room, self.lost = [], MAX_OUTPUT, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Keep or count the characters of a text. Returns how many they are."""
        kept_text = text[: self.room]
        if kept_text:
            self.parts.append(kept_text)
            self.room -= len(kept_text)
        self.lost += len(text) - len(kept_text)
        return len(text)

    def take(self) -> str:
        """The text printed since the last call, with a line on the number of missing characters, if any.

        The room for characters is not restored: later calls share what is left of it.
        """
        text = "".join(self.parts)
        if self.lost:
            text += f"\n… ({self.lost:,} more characters were printed)\n"
        self.parts, self.lost = [], 0
        return text.encode(errors="replace").decode()
