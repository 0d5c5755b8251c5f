"""A result as a fragment of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult, once
from grader.reports import heatmap, templating

LEVELS = ("where", "full", "names")  # of detail


def verdict(result: ExerciseResult, level: str = "where", pictures: Sequence[Picture] = (), heading: int = 2) -> Markup:
    """The result of one exercise. heading: the level of its heading, 2 to 5; pictures: shown below the checks.

    level "where": all that there is, each place to look at once; "full": all but the lines to look at, so messages,
    diagnoses, prints, pictures; "names": which checks passed. Raises ValueError for any other level.
    """
    demand_level(level)
    figures = heatmap.figures(pictures if level != "names" else ())
    places = once(check.where for check in result.checks)
    result = replace(result, checks=tuple(replace(check, where=where) for check, where in zip(result.checks, places)))
    return templating.macro("reports/templates/verdict.html", "verdict")(result, level, figures, heading)


def demand_level(level: str) -> None:
    """Raise ValueError where this is no level of feedback."""
    if level not in LEVELS:
        raise ValueError(f'"{level}" is no level of feedback. There are: {", ".join(LEVELS)}')
