"""What a learner's code finds around it: stand-ins, no keyboard, and a stream that keeps what it prints.

IPython's functions and progress bars compute nothing: code that uses them computes the same without them, so their
stand-ins have no effect. Modules that compute have none. torch.compile gives back what it is given, since a compiled
function answers as the plain one. Code that waits for the keyboard ends at the line that waits, since nobody can type
where code is graded. Each warning is shown once, in one line.
"""

import builtins
import contextlib
import importlib
import io
import linecache
import pdb
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from importlib.machinery import ModuleSpec
from typing import Any

import torch

WAITS = re.compile(r"(breakpoint\(\)|pdb\.set_trace\(\)|input\(\)) waits for the keyboard")
SIGN = "warning: "  # how the line of a warning begins
MAX_CODE = 80  # characters of the learner's line
PACKAGES = ("torch", "numpy", "einops", "triton")  # whose versions a learner's code may ask for
shown: set[str] = set()
MAX_OUTPUT = 10_000  # printed characters that are kept


def display(*objects: object, **options: object) -> None:
    """Accept any arguments and show nothing."""


def get_ipython() -> "Shell":
    """The stand-in for the IPython shell."""
    return Shell()


class Shell:
    """A shell each of whose methods accepts any arguments and returns None."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return display


class Progress(Shell):
    """A progress bar that shows nothing: it iterates over what it is given. Its methods accept any arguments."""

    write = staticmethod(print)

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


def unchanged(function: Any = None, *_: object, **__: object) -> Any:
    """A decorator, with or without options, that leaves the function as it is."""
    return function if function is not None else unchanged


def version(name: str) -> str:
    """The stand-in for importlib.metadata.version, which would read files that no worker can."""
    if name.lower() in PACKAGES:
        with contextlib.suppress(ImportError, AttributeError):
            return str(importlib.import_module(name.lower()).__version__)
    raise metadata.PackageNotFoundError(name)


def install() -> None:
    """Put all of it in place, in this process and its forks."""
    torch.compile = torch.compiler.disable = unchanged  # type: ignore[assignment]
    metadata.version = version  # type: ignore[assignment]
    bars = {"tqdm": Progress, "trange": lambda *limits, **_: Progress(range(*limits))}
    parts = {name: _add_module(f"tqdm.{name}", **bars) for name in ("auto", "notebook", "std")}
    _add_module("tqdm", __path__=[], **bars, **parts)
    vars(builtins).update(exit=sys.exit, quit=sys.exit, input=_ending("input()"))
    sys.breakpointhook = _ending("breakpoint()")
    pdb.set_trace = _ending("pdb.set_trace()")
    warnings.showwarning = _show  # type: ignore[assignment]


def _add_module(name: str, **names: Any) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # torch._dynamo asks for those of tqdm
    module.__dict__.update(names)
    return module


def _ending(name: str) -> Callable[..., None]:
    def end(*_: object, **__: object) -> None:
        raise EOFError(f"{name} waits for the keyboard")

    return end


def _show(message: Warning, category: type, filename: str, lineno: int, file: object = None, line: object = None):
    text = " ".join(str(message).split())
    if text not in shown:
        shown.add(text)
        is_own = linecache.cache.get(filename, ())[1:2] == (None,)  # the lines of a submission are there alone
        code = linecache.getline(filename, lineno).strip()[:MAX_CODE] if is_own else ""
        print(f"{SIGN}{text}{f' (at `{code}`)' if code else ''}", file=sys.stderr)


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
