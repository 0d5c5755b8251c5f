"""All that the rules of the course say about one student."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.classroom.course import overrides
from grader.classroom.course.marks import Mark
from grader.classroom.course.totals import PLAIN, TotalRule
from grader.records.results import ExerciseResult


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

    def shown(self, result: ExerciseResult) -> ExerciseResult:
        """The result as the student reads it: with what was set by hand."""
        mark = self.marks.get(result.exercise)
        return overrides.applied(result, mark.overrides) if mark else result


NOTHING = Standing()
