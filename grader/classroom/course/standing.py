"""All that the rules of the course say about one student."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.classroom.course.marks import Mark
from grader.classroom.course.totals import PLAIN, TotalRule


@dataclass(frozen=True)
class Standing:
    """One student. marks: by exercise; comments: by exercise, "" for all of the work; notes: for the instructor."""

    marks: Mapping[str, Mark] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rule: TotalRule = PLAIN

    def points(self, exercise: str, raw: float | None) -> float | None:
        """The points that count. raw: the grader's."""
        return self.marks[exercise].points if exercise in self.marks else raw


NOTHING = Standing()
