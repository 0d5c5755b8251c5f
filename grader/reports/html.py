"""HTML of results: a verdict as a fragment, and the page of a learner's exercises."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult, once
from grader.reports import heatmap, templating
from grader.reports.templating import document

LEVELS = ("where", "full", "hints", "names", "none")  # of detail in feedback
TITLE = "Attention, by hand: your report"


def verdict(result: ExerciseResult, level: str = "where", pictures: Sequence[Picture] = (), heading: int = 2) -> Markup:
    """The result of one exercise. heading: the level of its heading, 2 to 5; pictures: shown below the checks.

    level "where": all that there is, each place to look at once; "full": all but the lines to look at, so messages,
    diagnoses, prints, pictures; "hints": diagnoses and pictures; "names": which checks passed; "none": the points
    alone. Raises ValueError for any other level.
    """
    demand_level(level)
    figures = heatmap.figures(pictures if level in ("where", "full", "hints") else ())
    places = once(check.where for check in result.checks)
    result = replace(result, checks=tuple(replace(check, where=where) for check, where in zip(result.checks, places)))
    return templating.macro("reports/templates/verdict.html", "verdict")(result, level, figures, heading)


def demand_level(level: str) -> None:
    """Raise ValueError where this is no level of feedback."""
    if level not in LEVELS:
        raise ValueError(f'"{level}" is no level of feedback. There are: {", ".join(LEVELS)}')


@dataclass(frozen=True)
class Entry:
    """One exercise on the page. row: as grader.desk.progress makes it; lesson: a relative address."""

    row: dict[str, Any]
    result: ExerciseResult | None
    pictures: tuple[Picture, ...]
    hints: int
    hints_left: int
    lesson: str

    @property
    def first_pass(self) -> str:
        """The day on which the exercise was first passed."""
        moment = self.row["first_pass"]
        return "–" if moment is None else time.strftime("%Y-%m-%d", time.localtime(moment))


def report_page(
    entries: Sequence[Entry], paths: Sequence[dict[str, Any]], now: float, closing: Sequence[str] = ()
) -> str:
    """The whole page, which needs no script. now: seconds since 1970; closing: what is next, and what is due."""
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    facts: dict[str, Any] = {"entries": entries, "paths": paths, "made": date, "verdict": verdict, "closing": closing}
    return document("reports/templates/overview.html", TITLE, **facts)
