"""Stand-ins for modules that show something or annotate, and compute nothing: progress bars, debug prints, shapes.

Code that wraps a loop in tqdm or annotates with jaxtyping computes the same without them. Each stand-in has no effect;
modules that compute have none.
"""

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from typing import Any

from .stand_ins import SHELL, display


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


def unchanged(function: Any = None, **_: object) -> Any:
    """A decorator, with or without options, that leaves the function as it is."""
    return function if function is not None else unchanged


def install() -> None:
    """Make the stand-ins importable in this process and its forks."""
    bars = {"tqdm": Progress, "trange": progress_range}
    notebook = {"tqdm_notebook": Progress, "tnrange": progress_range}
    parts = {name: _module(f"tqdm.{name}", **bars) for name in ("auto", "notebook", "autonotebook", "std", "asyncio")}
    _module("tqdm", __path__=[], **bars, **notebook, **parts)
    _module("icecream", ic=printed)
    _module("loguru", logger=SHELL)
    _module("beartype", beartype=unchanged)
    _module("typeguard", typechecked=unchanged)
    _module("jaxtyping", jaxtyped=unchanged, __getattr__=_shape)


def _shape(name: str) -> type[Shape]:
    if name.startswith("__"):
        raise AttributeError(name)
    return Shape


def _module(name: str, **names: Any) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # torch._dynamo asks for those of tqdm
    module.__dict__.update(names)
    return module
