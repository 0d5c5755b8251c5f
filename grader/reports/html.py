"""A result as a fragment of HTML."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from grader.judge.pictures import Picture
from grader.records.causes import causes, waiting
from grader.records.results import ExerciseResult
from grader.reports import heatmap, templating, terminal


def verdict(result: ExerciseResult, level: str, pictures: Sequence[Picture] = ()) -> Markup:
    """The result of one exercise. pictures: shown below the checks.

    level "full": all but the lines to look at, so causes, prints, pictures; "names": which checks passed.
    """
    figures = heatmap.figures(pictures if level == "full" else ())
    blocks = cause_blocks(result, with_lines=False) if level == "full" else ""
    return templating.macro("reports/templates/verdict.html", "verdict")(result, level, blocks, figures)


def cause_blocks(result: ExerciseResult, with_lines: bool = True) -> Markup:
    """The causes, what is not written yet, and what waits. with_lines: also the lines that a search has found."""
    found = causes(result)
    shown, unwritten = [], [terminal.unwritten(cause) for cause in found if cause.example.is_unwritten]
    for cause in found:
        if not cause.example.is_unwritten:
            code = terminal.as_text(terminal.frame_lines(cause)) if with_lines or not cause.lines else ""
            shown.append((cause, code, terminal.as_text(terminal.evidence_lines(cause.evidence))))
    unwritten += [waiting(result, found)] if result.tried and waiting(result, found) else []
    return templating.macro("reports/templates/cause.html", "blocks")(shown, unwritten)
