"""How to grade, and what a grading gives: plain data. Every output form is a pure function of it."""

from dataclasses import dataclass

from grader.catalog import Exercise
from grader.report.inert import inert

PASSED, FAILED, NOT_CHECKED, ERROR = "passed", "failed", "not_checked", "error"


@dataclass(frozen=True)
class Settings:
    """How to grade. reveal: whether messages may show hidden inputs and expected values."""

    device: str = "cpu"
    seed: int = 0
    timeout: float | None = None  # seconds for one call, instead of the exercise's own
    reveal: bool = True
    diagnose: bool = True
    pictures: bool = False  # of what is not right yet, for a report


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check. `title` is the line that the learner reads."""

    id: str
    title: str
    outcome: str  # "passed", "failed" or "not_checked"
    points: float
    max_points: float
    message: str = ""
    diagnosis: str | None = None
    hidden: bool = False
    task: int | None = None


@dataclass(frozen=True)
class ExerciseResult:
    """The verdict of one exercise. status "error": the submission could not even be loaded."""

    exercise: str
    title: str
    submission: str
    device: str
    seed: int
    status: str  # "passed", "failed" or "error"
    duration_s: float
    checks: tuple[CheckResult, ...]
    output: str = ""
    message: str = ""  # said of the submission as a whole
    started: bool = True  # False for an untouched stub
    notes: tuple[str, ...] = ()
    pictures: tuple = ()  # of grader.pictures.Picture: the learner's weights beside the expected ones
    sandbox: object = None  # grader.sandbox.Sandbox: what was in force while others' code ran

    @property
    def points(self) -> float:
        return round(sum(check.points for check in self.checks), 6)

    @property
    def max_points(self) -> float:
        return round(sum(check.max_points for check in self.checks), 6)


def unreadable(exercise: Exercise, filename: str, message: str, settings: Settings, **known) -> ExerciseResult:
    """The verdict "error": nothing of the submission could be run."""
    reason = "not checked: the file could not be loaded"
    facts = {
        "checks": tuple(
            CheckResult(name, name.replace("_", " "), NOT_CHECKED, 0.0, points, reason)
            for name, points in exercise.points.items()
        ),
        "duration_s": 0.0,
        **known,
    }
    return ExerciseResult(
        exercise=exercise.folder,
        title=exercise.title,
        submission=filename,
        device=settings.device,
        seed=settings.seed,
        status=ERROR,
        message=inert(message),
        **facts,
    )
