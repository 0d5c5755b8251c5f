"""Shows verdicts, pictures and figures in notebooks: HTML with a small style of its own, and text."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.catalog import Exercise, errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import ending
from grader.desk.experiment import Experiment
from grader.integrations import figures
from grader.judge import figure
from grader.judge.pictures import Matrix, Picture
from grader.records.results import PASSED, ExerciseResult
from grader.reports import heatmap, html, templating, terminal
from grader.reports.heatmap import print_alike
from grader.reports.templating import render

TEMPLATE = "integrations/notebook/templates/output.html"
RAN = re.compile(r"make try EX=\d+")
VERDICT = "integrations/notebook/templates/verdict.html"
EXPERIMENT = "integrations/notebook/templates/experiment.html"


def verdict(result: ExerciseResult, pictures: Sequence[Picture]) -> dict:
    """{"text", "html"} of a verdict with its pictures."""
    result = replace(result, message=_message(result.message))
    closing = ending.ability(result.exercise) if result.status == PASSED else ""
    passed = [check for check in result.checks if check.outcome == PASSED]
    figures = heatmap.figures(pictures)
    body = templating.macro(VERDICT, "verdict")(result, html.cause_blocks(result), passed, figures, closing)
    return {"text": terminal.plain(result) + closing, "html": _output(body)}


def pictures(exercise: Exercise, drawings: Sequence[Picture]) -> dict:
    """{"text", "html"} of pictures alone."""
    if not drawings:
        return {"text": f"{exercise.folder} has no picture."}
    return {
        "text": "\n".join(line.plain for line in heatmap.all_lines(drawings)),
        "html": _output(heatmap.figures(drawings)),
    }


def matrices(exercise: Exercise, drawings: Sequence[Picture]) -> dict:
    """{"pictures"}: the learner's and the expected matrices as plain data, which the figure draws; or {"text"}."""
    if not drawings:
        return {"text": f"{exercise.folder} has no matrix to compare."}
    return {"pictures": [_plain(picture) for picture in drawings]}


def experiment(measured: Experiment) -> dict:
    """{"text", "html"} of an experiment: its question, its table, and whether its claim holds."""
    table = ["  ".join(row) for row in measured.table]
    text = "\n".join([measured.question, "", *table, "", measured.claim, measured.verdict])
    return {"text": text, "html": render(EXPERIMENT, experiment=measured)}


def make_widget(exercise: Exercise, ask: Callable[[], dict]) -> object:
    """The widget. ask: gives the learner's own matrices, when the reader asks for them.

    Raises WrongUse where anywidget is not installed or the exercise has no figure.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise errors.missing_extra("Figures in notebooks need anywidget", "notebook") from None
    if not figure.has_figure(exercise.folder):
        raise WrongUse(f"{exercise.folder} has no figure.")
    traits = {
        "_esm": figures.widget(exercise.folder),
        "_css": figures.style(),
        "data": traitlets.Dict().tag(sync=True),
        "mine": traitlets.Dict().tag(sync=True),  # the answer of `ask`
        "asked": traitlets.Int(0).tag(sync=True),  # how many times the button was pressed
        "can_ask": traitlets.Bool().tag(sync=True),
    }
    kind = type("Figure", (anywidget.AnyWidget,), traits)
    widget = kind(data=figure.data(exercise.folder), can_ask=paths.pictures(exercise.folder).exists())
    widget.observe(lambda change: setattr(widget, "mine", ask()), "asked")
    return widget


def _message(text: str) -> str:
    """A message of a verdict in the words of a notebook."""
    return RAN.sub("the cell again", text)


def _output(body: str) -> str:
    """An output with its style."""
    return render(TEMPLATE, body=body, colours=templating.colours_within(".kata"))


def _plain(picture: Picture) -> dict:
    """A picture as data that JSON can hold."""
    largest = picture.largest_difference
    picture = print_alike(picture)
    return {
        "title": picture.title,
        "rows": picture.rows,
        "columns": picture.columns,
        "learner": picture.learner and _finite(picture.learner),
        "expected": _finite(picture.expected),
        "note": picture.note,
        "difference": None if largest is None else f"{largest:.2g}",
    }


def _finite(matrix: Matrix) -> list[list[float | str]]:
    """The matrix as JSON can hold it: infinities and NaN are strings."""
    return [[value if math.isfinite(value) else str(value) for value in row] for row in matrix]
