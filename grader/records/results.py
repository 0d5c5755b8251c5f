"""The settings and the result of a grading, as plain data. Reports are made of the result alone."""

from dataclasses import dataclass, field
from typing import Any

from grader.catalog import Exercise, project
from grader.records.evidence import Finding
from grader.records.sanitize import inert

PASSED, FAILED, NOT_CHECKED, ERROR, NOT_GRADED = "passed", "failed", "not_checked", "error", "not_graded"
AND, OR = "  and: ", "  or: "  # these join two known mistakes in a diagnosis: both were made, or one of them
NOT_WRITTEN = "not written yet: "  # how the message begins on a function that is as in the stub
ENDLESS = "This looks like an infinite loop"  # how the message begins on a call that was stopped
ASLEEP = "This waits, and computes nothing"  # the same for a call that slept, say
NOT_AGAIN = "was not called again"  # how it ends where the call would take as long again
NOT_LOADED = "not checked: the file could not be loaded"
FIX_FIRST = ", whose own checks fail: fix "  # is in a diagnosis that names another function of the learner's


@dataclass(frozen=True)
class Settings:
    """How to grade. reveal: messages may show hidden inputs and expected values, and the result shows the seed."""

    device: str = "cpu"
    seed: int = 0
    timeout: float | None = None  # seconds for one call; None stands for the limit of the exercise
    reveal: bool = True
    diagnose: bool = True
    pictures: bool = False  # draw the matrices that are wrong, for a report
    where: bool = False  # look for the lines to change; only with `reveal`

    @property
    def shown_seed(self) -> int | None:
        """The seed that the result shows, or None. All hidden inputs can be derived from it."""
        return self.seed if self.reveal else None


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check. `title` is the line that the learner reads.

    lines: the lines of the learner's file in which a change that was tried helps, () where none was found; where: the
    sentence that names these lines, or the definition.
    """

    id: str
    title: str
    outcome: str  # "passed", "failed" or "not_checked"
    points: float
    max_points: float
    message: str = ""
    diagnosis: str | None = None
    hidden: bool = False
    task: int | None = None
    lines: tuple[int, ...] = ()
    where: str = ""
    finding: Finding | None = field(default=None, compare=False)  # of a failed check: `causes` shows it

    @property
    def is_unwritten(self) -> bool:
        """Whether it failed since a function is not written yet."""
        return self.outcome == FAILED and self.message.startswith(NOT_WRITTEN)

    @property
    def word(self) -> str:
        """The outcome in words. A check that ran without functions whose own checks fail has a part of its points."""
        return "checked in part" if self.outcome == NOT_CHECKED and self.points > 0 else self.outcome.replace("_", " ")


@dataclass(frozen=True)
class ExerciseResult:
    """The verdict of one exercise.

    status "error": the submission could not be loaded; "not_graded": the grader could not do its work, so there is no
    verdict, and the 0 points are not a mark.
    """

    exercise: str
    title: str
    submission: str
    device: str
    seed: int | None  # None for a secret seed
    status: str  # "passed", "failed", "error" or "not_graded"
    duration_s: float
    checks: tuple[CheckResult, ...]
    output: str = ""
    message: str = ""  # about the submission as a whole
    started: bool = True  # False for an untouched stub
    notes: tuple[str, ...] = ()
    pictures: tuple[Any, ...] = ()  # of grader.judge.pictures.Picture: the learner's weights beside the expected ones
    finding: Finding | None = field(default=None, compare=False)  # where the submission could not be loaded
    sandbox: Any = None  # grader.sandbox.tiers.Sandbox, in which the learner's code ran

    @property
    def tried(self) -> bool:
        """Whether the checks were run at all."""
        return self.status not in (ERROR, NOT_GRADED)

    @property
    def points(self) -> float:
        """The points of all checks."""
        return round(sum(check.points for check in self.checks), 6)

    @property
    def max_points(self) -> float:
        """The points that all checks can give."""
        return round(sum(check.max_points for check in self.checks), 6)


# What a grading gives, in this order: each check once it has run, then the result, again once more is known of it.
Event = CheckResult | ExerciseResult


def unreadable(
    exercise: Exercise, filename: str, message: str, settings: Settings, reason: str = NOT_LOADED, **fields: Any
) -> ExerciseResult:
    """The verdict "error": no check could be run. reason: why; fields: those fields of the result that are known."""
    checks = tuple(
        CheckResult(name, name.replace("_", " "), NOT_CHECKED, 0.0, points, reason)
        for name, points in exercise.points.items()
    )
    return ExerciseResult(
        exercise=exercise.folder,
        title=exercise.title,
        submission=filename,
        device=settings.device,
        seed=settings.shown_seed,
        message=inert(message),
        **{"status": ERROR, "checks": checks, "duration_s": 0.0, **fields},
    )


def ungraded(exercise: Exercise, filename: str, reason: str, settings: Settings) -> ExerciseResult:
    """The result "not_graded": the grader could not do its work. reason: for the person who runs the grader."""
    message, short = f"not graded, which is not the file's fault: {reason}", "the grader could not do its work"
    if reason.startswith(project.NOT_HERE):
        message, short = reason, project.NOT_HERE
    return unreadable(exercise, filename, message, settings, f"not checked: {short}", status=NOT_GRADED)
