"""The pages that the keys of the watch open, and the reset to the stub."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.desk import overview, side_by_side
from grader.desk.reset import reset as put_back


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
