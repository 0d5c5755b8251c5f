"""One page with all exercises of a learner: state, last verdict, pictures, hints that are left, link to the lesson."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult
from grader.reports.html import verdict
from grader.reports.html_page import document

TITLE = "Attention, by hand: your report"


@dataclass(frozen=True)
class Entry:
    """One exercise on the page. row: as grader.desk.overview makes it; lesson: a relative address."""

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


def page(entries: Sequence[Entry], tracks: Sequence[dict[str, Any]], now: float) -> str:
    """The whole page, which needs no script. now: seconds since 1970."""
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    facts = {"entries": entries, "tracks": tracks, "made": date, "verdict": verdict}
    return document("reports/templates/overview.html", TITLE, **facts)
