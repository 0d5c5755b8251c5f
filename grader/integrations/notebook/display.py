"""A verdict and pictures as a notebook shows them: HTML with its own small style, and the same as text."""

from collections.abc import Sequence

from grader.catalog import Exercise
from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult
from grader.reports import html, terminal
from grader.reports.heatmap import blocks as drawn
from grader.reports.heatmap import svg
from grader.reports.templating import render

TEMPLATE = "integrations/notebook/templates/output.html"


def verdict(result: ExerciseResult, pictures: Sequence[Picture]) -> dict:
    """{"text", "html"} of a verdict with its pictures."""
    plain = [" " * left + line.plain for left, line in terminal.render(result)]
    return {"text": "\n".join(plain), "html": render(TEMPLATE, body=html.verdict(result, "full", pictures, heading=3))}


def pictures(exercise: Exercise, taken: Sequence[Picture]) -> dict:
    """{"text", "html"} of pictures alone."""
    if not taken:
        return {"text": f"{exercise.folder} has no picture."}
    plain = [line.plain for picture in taken for line in drawn.render(picture)]
    return {"text": "\n".join(plain), "html": render(TEMPLATE, body=svg.figures(taken))}
