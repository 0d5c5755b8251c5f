"""Finds the problems of an exercise's interactive figure that reading its files shows."""

from collections.abc import Iterator

from grader.authoring.problem import Problem, again
from grader.catalog import Exercise, paths
from grader.judge import figure_numbers

TRACKS = ("core", "beyond")  # whose exercises need one
FORM = "export default {"


def missing(exercise: Exercise) -> Iterator[Problem]:
    """An exercise of these tracks needs a script that draws its figure, and the numbers for it."""
    if exercise.track not in TRACKS:
        return
    folder = exercise.folder
    needed = {
        "interactive figure is": paths.figure_script(folder),
        "numbers of the figure are": paths.figure_data(folder),
    }
    for noun, path in needed.items():
        if not path.exists():
            yield Problem(f"the {noun} missing", path, f"Write it as another exercise has it, then: {again(folder)}")


def wrong(folder: str) -> Iterator[Problem]:
    """The script must have anywidget's form, and the numbers that it first shows must be documented."""
    if not figure_numbers.has_figure(folder):
        return
    script, numbers = paths.figure_script(folder), paths.figure_data(folder)
    mend = f"Mend it, then: {again(folder)}"
    if FORM not in script.read_text("utf-8"):
        yield Problem(f"the figure has no `{FORM} render({{ model, el }}) … }}`", script, mend)
    try:
        figure_numbers.data(folder), figure_numbers.drawings(folder)
        if not figure_numbers.start(folder):
            yield Problem("the figure shows no documented number first: `start` is empty", numbers, mend)
    except KeyError as error:
        yield Problem(f"the figure shows {error} first, and documented.toml has no such number", numbers, mend)
    except Exception as error:  # whatever an author's module may raise
        yield Problem(f"it cannot be run: {type(error).__name__}: {error}", numbers, mend)
