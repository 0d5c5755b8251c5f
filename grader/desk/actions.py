"""The pages that the keys of the watch open, and the reset to the stub."""

import os
import subprocess
import sys

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.desk import overview, side_by_side
from grader.desk.reset import reset as put_back

PLOT_S = 90  # seconds; a new process imports torch


def reset(exercise: Exercise) -> str:
    """Put the stub back. Returns the message about it."""
    try:
        copy = put_back(exercise.folder)
    except WrongUse as error:
        return str(error)
    return f"The fresh stub is back. Yours is kept: {paths.shown(copy)}" if copy else "The fresh stub is in place."


def all_exercises() -> list[RenderableType]:
    """The page of all exercises, a column for each track: one below the other they are longer than a terminal."""
    columns = Table.grid(padding=(0, 2))
    columns.add_row(*(Text(text, no_wrap=True) for text in overview.columns(overview.rows())))
    return [columns]


def solution(exercise: Exercise, width: int) -> list[RenderableType]:
    """The page of the reference beside the learner's own file, or of the reason why there is none."""
    try:
        return [side_by_side.of(exercise.folder, width)]
    except WrongUse as error:
        return [Text(str(error))]


def plot(exercise: Exercise, width: int) -> list[RenderableType]:
    """The page of pictures. `make plot` draws them in a process of its own, so that an error does not end the watch."""
    command = [sys.executable, "-m", "grader", "plot", exercise.folder]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(width)}
    if "NO_COLOR" in os.environ:
        environment.pop("FORCE_COLOR")
    try:
        process = subprocess.run(
            command, cwd=paths.ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PLOT_S
        )
    except subprocess.TimeoutExpired:
        return [Text(f"There was no picture after {PLOT_S} s.")]
    output = process.stdout if process.returncode == 0 else process.stderr or process.stdout
    return [Text.from_ansi(output.decode("utf-8", errors="replace").rstrip("\n"), no_wrap=True, overflow="ignore")]
