"""What single keys of the watch do beside grading: pages to show, and the fresh stub."""

import os
import subprocess
import sys

from rich.console import RenderableType
from rich.text import Text

from grader import paths
from grader.catalog import Exercise
from grader.desk import comparison, fresh, standing
from grader.errors import WrongUse

PLOT_S = 90  # torch starts anew for it


def reset(exercise: Exercise) -> str:
    """Put the fresh stub back; what to say about it."""
    try:
        kept = fresh.reset(exercise.folder)
    except WrongUse as error:
        return str(error)
    return f"The fresh stub is back. Yours is kept: {paths.shown(kept)}" if kept else "The fresh stub is in place."


def standings() -> list[RenderableType]:
    """The page of all exercises."""
    return [Text(standing.text(standing.rows()).rstrip("\n"), no_wrap=True)]


def solution(exercise: Exercise, width: int) -> list[RenderableType]:
    """The page of the reference beside the learner's own."""
    try:
        return [comparison.of(exercise.folder, width)]
    except WrongUse as error:
        return [Text(str(error))]


def plot(exercise: Exercise, width: int) -> list[RenderableType]:
    """The page of pictures, drawn by `make plot` in a process of its own: what goes wrong there stays there."""
    command = [sys.executable, "-m", "grader", "plot", exercise.folder]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(width)}
    if "NO_COLOR" in os.environ:
        environment.pop("FORCE_COLOR")
    try:
        done = subprocess.run(
            command, cwd=paths.ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PLOT_S
        )
    except subprocess.TimeoutExpired:
        return [Text(f"There was no picture after {PLOT_S} s.")]
    told = done.stdout if done.returncode == 0 else done.stderr or done.stdout
    return [Text.from_ansi(told.decode("utf-8", errors="replace").rstrip("\n"), no_wrap=True, overflow="ignore")]
