"""The experiment of a lesson: a script that measures one claim of it, and its table.

A learner may change the script: its numbers are nobody's grade.
"""

import contextlib
import math
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.table import Table
from rich.text import Text

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse

DIGITS = 4  # of the largest number of a column
LONG = 1e6  # a number from here on is written as 1.0e+06
Cell = float | str


@dataclass(frozen=True)
class Experiment:
    """A measurement. rows: the cells of each row by column; claim: in words; holds: whether it was measured."""

    question: str
    rows: tuple[dict[str, Cell], ...]
    claim: str
    holds: bool

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The cells as text, row by row, the names of the columns first."""
        return [tuple(self.rows[0]), *zip(*(cells([row[name] for row in self.rows]) for name in self.rows[0]))]

    @property
    def verdict(self) -> str:
        """Whether the measurement bears the claim out."""
        return f"measured: {'holds' if self.holds else 'does not hold'}"


def run(exercise: Exercise) -> Experiment:
    """Run the experiment of an exercise; what it prints goes to stderr.

    Raises WrongUse where it has none or its script does not work.
    """
    import torch

    script, threads = paths.experiment(exercise.folder), torch.get_num_threads()
    shown = paths.shown(script)
    if not script.exists():
        raise WrongUse(f"{exercise.folder} has no experiment: {shown} is not there. Others have: make experiment EX=02")
    torch.set_num_threads(1)  # the same numbers on every machine: one thread adds in one order
    try:
        with contextlib.redirect_stdout(sys.stderr):
            names = runpy.run_path(str(script))
            rows = tuple(dict(row) for row in names["measure"]())
            if not rows or any(list(row) != list(rows[0]) for row in rows):
                raise ValueError("measure() gives rows with the same columns")
            return Experiment(names["__doc__"].splitlines()[0], rows, names["CLAIM"], bool(names["claim"](list(rows))))
    except (Exception, SystemExit) as error:
        ran = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)]
        line = getattr(error, "lineno", None) or (ran or [None])[-1]  # of a SyntaxError, or of what ran
        place = f"{shown}:{line}" if line else shown
        raise WrongUse(f"The experiment broke off at {place}\n{type(error).__name__}: {error}") from None
    finally:
        torch.set_num_threads(threads)


def measure(exercise: Exercise, arguments: Sequence[str]) -> int:
    """Run measure_NAME.py beside a lesson, in the learner's terminal: NAME, then its arguments. Returns its exit code.

    Raises WrongUse if there is no such script.
    """
    name, *rest = arguments
    scripts = {path.stem.removeprefix("measure_"): path for path in paths.measuring(exercise.folder)}
    if name not in scripts:
        others = f"It has: {', '.join(sorted(scripts))}" if scripts else "It has none."
        raise WrongUse(f"{exercise.folder} has no measure_{name}.py. {others}")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run([sys.executable, str(scripts[name]), *rest], env=environment).returncode


def page(exercise: Exercise, made: Experiment) -> Group:
    """The question, the table, the claim and whether it holds, for a terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, cell in made.rows[0].items():
        table.add_column(name, justify="left" if isinstance(cell, str) else "right", vertical="bottom")
    for row in made.table[1:]:
        table.add_row(*row)
    return Group(
        Text(f"{exercise.folder[:2]} {exercise.title} · experiment", "bold"),
        Text(f"{made.question}\n"),
        table,
        Text(f"\n{made.claim}"),
        Text(made.verdict, "green" if made.holds else "bold red"),
        Text(f"Its script, for numbers of your own: {paths.shown(paths.experiment(exercise.folder))}", "dim"),
    )


def markdown(made: Experiment) -> str:
    """The table as a lesson prints it, in Markdown."""
    names, *rows = made.table
    marks = ["---" if isinstance(cell, str) else "---:" for cell in made.rows[0].values()]
    return "".join(f"| {' | '.join(row)} |\n" for row in (names, marks, *rows))


def cells(values: Sequence[Cell]) -> list[str]:
    """A column as text: words as they are, numbers with one count of decimals where that shows each, else shortened."""
    numbers = [value for value in values if not isinstance(value, str) and math.isfinite(value)]
    sizes = [abs(number) for number in numbers if number]
    is_whole = all(float(number).is_integer() for number in numbers)
    places = 0 if is_whole else min(max(DIGITS - 1 - math.floor(math.log10(max(sizes))), 1), DIGITS)
    # At least two digits of each are shown.
    has_two_digits = not sizes or (min(sizes) >= 10.0 ** (1 - places) and max(sizes) < LONG)
    while places > 1 and all(round(number, places - 1) == number for number in numbers):
        places -= 1  # a script that rounded has said how many digits count
    return [value if isinstance(value, str) else _number(value, places if has_two_digits else None) for value in values]


def _number(value: float, places: int | None) -> str:
    """A number with so many places; None: as short as its size allows."""
    if places is not None or not math.isfinite(value):
        return f"{value:.{places or 0}f}"
    if value != 0 and not 1e-3 <= abs(value) < LONG:
        return f"{value:.1e}"
    return f"{value:.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.3g}"
