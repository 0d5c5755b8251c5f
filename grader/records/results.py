"""The settings, the events and the result of a grading, as plain data, and its failures by cause.

Reports are made of the result alone.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from grader.catalog import Exercise, project
from grader.records.sanitize import inert

PASSED, FAILED, NOT_CHECKED, ERROR, NOT_GRADED = "passed", "failed", "not_checked", "error", "not_graded"
AND, OR = "  and: ", "  or: "  # these join two known mistakes in a diagnosis: both were made, or one of them
NOT_WRITTEN = "not written yet: "  # how the message begins on a function that is as in the stub
ENDLESS = "This looks like an infinite loop"  # how the message begins on a call that was stopped
ASLEEP = "This waits, and computes nothing"  # the same for a call that slept, say
NOT_AGAIN = "was not called again"  # how it ends where the call would take as long again
FIX_FIRST = ", whose own checks fail: fix "  # stands in a diagnosis that names another function of the learner's
SHAPE = re.compile(r"\(((?:\d+(?:, )?)+),?\)")  # a tensor's shape in the line that names the call
VALUES = "fresh_"  # how the names of hidden checks begin that compare values; all other hidden ones are special
PLACE = re.compile(r"(?m)^\S+:\d+(?: in .*)?$")  # where an exception was raised
LINE = re.compile(r"\(line \d+\)")  # of a definition that is in a wrong place or has a wrong name


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


def outcome_word(outcome: str, points: float) -> str:
    """The outcome of a check in words.

    points: what it gave. One that ran without those functions whose own checks fail has a part of its points.
    """
    return "checked in part" if outcome == NOT_CHECKED and points > 0 else outcome.replace("_", " ")


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

    @property
    def is_unwritten(self) -> bool:
        """Whether it failed since a function is not written yet."""
        return self.outcome == FAILED and self.message.startswith(NOT_WRITTEN)

    @property
    def word(self) -> str:
        """The outcome in words."""
        return outcome_word(self.outcome, self.points)


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


@dataclass(frozen=True)
class CheckOutcome:
    """A check was run, or left out since another one failed. number: how many were so far; of: how many there are."""

    check: CheckResult
    number: int
    of: int


@dataclass(frozen=True)
class Verdict:
    """What the checks found."""

    result: ExerciseResult


class Diagnosis(Verdict):
    """The same result with the likely causes."""


class Location(Verdict):
    """The same result with the lines to look at."""


Event = CheckOutcome | Verdict  # of a grading, in this order; the last one has the final result


def unreadable(exercise: Exercise, filename: str, message: str, settings: Settings, **fields: Any) -> ExerciseResult:
    """The verdict "error" for a submission that could not be run. fields: those fields of the result that are known."""
    return _without_checks(exercise, filename, ERROR, message, "the file could not be loaded", settings, **fields)


def ungraded(exercise: Exercise, filename: str, reason: str, settings: Settings) -> ExerciseResult:
    """The result "not_graded": the grader could not do its work. reason: for the person who runs the grader."""
    if reason.startswith(project.NOT_HERE):
        return _without_checks(exercise, filename, NOT_GRADED, reason, project.NOT_HERE, settings)
    message = f"not graded, which is not the file's fault: {reason}"
    return _without_checks(exercise, filename, NOT_GRADED, message, "the grader could not do its work", settings)


@dataclass(frozen=True)
class Cause:
    """Checks that fail for one reason.

    number: counts from 1, in the order of the checks; example: the clearest of the checks, which is a documented one if
    there is any (the lesson shows its numbers), otherwise one of plain values, and has the smallest input; diagnosis,
    lines and where: as in CheckResult, from the first check that has them, where without the sentences of an earlier
    cause.
    """

    number: int
    checks: tuple[CheckResult, ...]
    example: CheckResult
    diagnosis: str | None
    lines: tuple[int, ...]
    where: str


def causes(result: ExerciseResult) -> tuple[Cause, ...]:
    """The causes of a result's failed checks.

    Checks have one cause where they have the same diagnosis, the same lines to look at, or the same exception.
    """
    groups: list[list[CheckResult]] = []
    for check in result.checks:
        if check.outcome != FAILED:
            continue
        same_cause_groups = [group for group in groups if any(_is_one(check, grouped_check) for grouped_check in group)]
        groups = [group for group in groups if group not in same_cause_groups]
        groups.append(
            sorted([*(grouped for group in same_cause_groups for grouped in group), check], key=result.checks.index)
        )
    groups.sort(key=lambda group: (min(check.task or 0 for check in group), result.checks.index(group[0])))
    numbered_causes = [_cause(number, tuple(group)) for number, group in enumerate(groups, 1)]
    return tuple(
        replace(cause, where=place)
        for cause, place in zip(numbered_causes, once(cause.where for cause in numbered_causes))
    )


def still_to_run(result: ExerciseResult) -> list[str]:
    """The sentences on the checks that did not run, and on those that ran for a part of their points."""
    waiting = [check for check in result.checks if check.outcome == NOT_CHECKED]
    in_part = [check for check in waiting if check.points > 0]
    found = len(causes(result))
    when = "once this is fixed" if found < 2 else "once these are fixed"
    sentences = []
    if count := len(waiting) - len(in_part):
        sentences.append(f"{count} more {'check' if count == 1 else 'checks'} will run {when}")
    if in_part:
        most = sum(check.max_points for check in in_part)
        points = f"{sum(check.points for check in in_part):g} of {most:g} {'point' if most == 1 else 'points'}"
        checks = "1 check" if len(in_part) == 1 else f"{len(in_part)} checks"
        sentences.append(f"{checks} ran in part ({points}), and will run in full {when}")
    return sentences


def known_sentences(diagnosis: str | None) -> list[str]:
    """The sentences of known mistakes in a diagnosis, which may name two; of “one or the other” the first counts."""
    return (diagnosis or "").partition(OR)[0].split(AND)


def once(places: Iterable[str]) -> Iterator[str]:
    """The texts that say where to look, each without the lines of text that an earlier one has already.

    One line of code is named once, though another kind of change may help there too.
    """
    earlier: set[str] = set()
    for text in places:
        sentences: list[str] = []
        for sentence in text.splitlines():
            if (name := _named_line(sentence)) not in earlier:
                earlier.add(name)
                sentences.append(sentence)
        yield "\n".join(sentences)


def _named_line(sentence: str) -> str:
    """The line of code that a sentence names, without the kind of change; the sentence where it names none."""
    return sentence.rpartition("`")[0] or sentence


def cause_numbers(result: ExerciseResult) -> dict[str, int]:
    """The number of its cause for each failed check."""
    return {check.id: cause.number for cause in causes(result) for check in cause.checks}


def _without_checks(
    exercise: Exercise, filename: str, status: str, message: str, reason: str, settings: Settings, **fields: Any
) -> ExerciseResult:
    checks = tuple(
        CheckResult(name, name.replace("_", " "), NOT_CHECKED, 0.0, points, f"not checked: {reason}")
        for name, points in exercise.points.items()
    )
    return ExerciseResult(
        exercise=exercise.folder,
        title=exercise.title,
        submission=filename,
        device=settings.device,
        seed=settings.shown_seed,
        status=status,
        message=inert(message),
        **{"checks": checks, "duration_s": 0.0, **fields},
    )


def _is_one(check: CheckResult, other: CheckResult) -> bool:
    """Whether two failed checks have one cause."""
    if check.diagnosis or other.diagnosis:
        named_apart = bool(check.diagnosis and other.diagnosis) and len(check.lines) > 1  # a line for each, likely
        return check.diagnosis == other.diagnosis or bool(
            check.lines and check.lines == other.lines and not named_apart
        )
    if check.lines or other.lines:
        return check.lines == other.lines
    places = [PLACE.findall(each.message) for each in (check, other)]
    if all(places):
        return bool(places[0][-1] == places[1][-1])
    return _reason(check) == _reason(other) or _is_same_place(check, other)


def _reason(check: CheckResult) -> tuple[str, ...]:
    """What failed, without the inputs of the call: what names a line is one wherever it is met."""
    head, _, call = check.message.partition("\ncalled ")
    if head.startswith((ENDLESS, ASLEEP)):
        return (head.partition(":")[0],)
    if LINE.search(head):
        return (head,)
    return (check.message,) if "differ" in head else (head, call.strip().partition("(")[0])


def _is_same_place(check: CheckResult, other: CheckResult) -> bool:
    return bool(check.where) and check.where == other.where


def _cause(number: int, checks: tuple[CheckResult, ...]) -> Cause:
    def first(name: str) -> object:
        return next((value for check in checks if (value := getattr(check, name))), None)

    lines, where = first("lines"), first("where")
    example = min(checks, key=_size)  # stable: the earliest of equals
    return Cause(number, checks, example, _diagnosis(checks), lines or (), where or "")  # type: ignore[arg-type]


def _diagnosis(checks: tuple[CheckResult, ...]) -> str | None:
    """The first diagnosis. That another function is to be fixed first counts only where no check says more."""
    own = [check.diagnosis for check in checks if FIX_FIRST not in (check.diagnosis or "")]
    return next(filter(None, own), None) if own else checks[0].diagnosis


def _size(check: CheckResult) -> tuple[bool, bool, bool, bool, int]:
    """The key that sorts the clearest failed check first: called, public before hidden, shown values, small inputs.

    A special check that only meets the mistake accuses of something else by its title: the earliest of them counts.
    """
    was_called = NOT_AGAIN not in check.message
    if check.hidden and not check.id.startswith(VALUES):
        return not was_called, True, True, False, 0
    shapes = SHAPE.findall(check.message.partition("called")[2].partition("\n")[0])
    numbers = sum(math.prod(int(size) for size in shape.split(",") if size.strip()) for shape in shapes)
    return not was_called, check.hidden, False, "expected" not in check.message, numbers
