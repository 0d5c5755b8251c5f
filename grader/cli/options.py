"""How a verb declares itself, and the options that several verbs share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import catalog
from grader.desk import ending

VISIBLE = ("visible", "after_due_date", "after_published", "hidden")  # Gradescope's words for who sees a test
YES, NO = ("1", "yes", "on", "true"), ("", "0", "no", "off", "false")

Run = Callable[[argparse.Namespace], int | None]


class Option:
    """One option, or a word without a name. settings: those of argparse's add_argument."""

    def __init__(self, *names: str, **settings: Any):
        self.names, self.settings = names, settings

    @property
    def is_word(self) -> bool:
        """Whether it is typed without a name: EX."""
        return not self.names[0].startswith("-")

    @property
    def is_flag(self) -> bool:
        """Whether it has no value."""
        return self.settings.get("action") == "store_true"

    @property
    def in_make(self) -> tuple[str, ...]:
        """Its names in NAME=value: SUBMISSION for --submission, EX for the word EX."""
        own = (str(self.settings.get("metavar")),) if self.is_word else ()
        return (*own, *(name.lstrip("-").replace("-", "_").upper() for name in self.names))


@dataclass(frozen=True)
class Verb:
    """One command. run: does the work, and returns the exit code, or nothing; its docstring begins with the summary."""

    run: Run
    options: tuple[Option, ...]

    @property
    def summary(self) -> str:
        """What --help says about the verb."""
        return (self.run.__doc__ or "").splitlines()[0]


DECLARED: dict[str, Verb] = {}


def verb(name: str, *options: Option) -> Callable[[Run], Run]:
    """Declare the function below as what runs a verb."""

    def declare(run: Run) -> Run:
        DECLARED[name] = Verb(run, options)
        return run

    return declare


def choose(name: str | None) -> catalog.Exercise:
    """The exercise of this name; without a name the one to do next, or the last one where all are passed."""
    if name is not None:
        return catalog.find(name)
    return ending.open_exercise() or catalog.exercises()[-1]


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def number(kind: type, least: float, most: float, says: str) -> Callable[[str], Any]:
    """A type for argparse: an int or a float from `least` to `most`. says: what it is to be."""

    def read(text: str) -> Any:
        """Raises ArgumentTypeError for a number out of range, ValueError for what is none."""
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is out of range: {says}")
        return value

    read.__name__ = kind.__name__
    return read


jobs = positive = number(int, 1, 1_000_000, "1 or more")
seconds = number(float, 1e-9, 3600, "seconds between 0 and 3600")


EXERCISE = Option("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
NEXT = Option("exercise", nargs="?", metavar="EX", help="default: the next one that is not done")
SUBMISSION = Option("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook")
EXERCISES = Option("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
NO_SANDBOX = Option("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")
