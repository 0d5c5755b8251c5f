"""Which lines are told: the definition that is to blame first, then the change in it after which the checks pass.

Fault localisation by tried repairs: Weimer et al. 2009 (GenProg), Singh et al. 2013 (arXiv 1204.1751).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.catalog import mistakes, paths
from grader.catalog.errors import InfrastructureError
from grader.judge.examiner import Examiner
from grader.judge.failure import Failure
from grader.judge.mismatch import Mismatch
from grader.judge.where import guidance
from grader.judge.where.blame import Blame, Group
from grader.judge.where.edits import Tree
from grader.judge.where.guidance import Guidance
from grader.judge.where.probes import probes
from grader.judge.where.repair import Repairs
from grader.judge.where.trial import Trial
from grader.records import containment
from grader.records.places import is_notebook, place
from grader.records.results import ExerciseResult
from grader.records.sanitize import inert
from grader.records.source import nesting
from grader.records.submission import Submission

SECONDS = 1.6  # for one submission
MAX_DEPTH = 60  # of a source's syntax tree; answers to exercises have some 15
FORBIDDEN = "line "
MAX_CODE = 60  # characters of a line that are shown


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1, () where the definition alone is known; sentence: what the learner
    reads; how: "repair", "part" (a change mends some of the checks), "message", "construct" or "definition".
    """

    lines: tuple[int, ...]
    sentence: str
    how: str


def located(
    examiner: Examiner,
    submission: Submission,
    result: ExerciseResult,
    seconds: float = SECONDS,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> ExerciseResult:
    """The result with the places of its failed checks: of the submission that the examiner examined last.

    is_cancelled: asked between two candidates; then nothing more is tried.
    """
    explained = examiner.explained
    if explained is None:
        return result
    told = (explained.failures, explained.passed, explained.diagnoses)
    found = places(examiner, submission, *told, seconds=seconds, is_cancelled=is_cancelled)
    checks = tuple(
        replace(check, lines=found[check.id].lines, where=found[check.id].sentence) if check.id in found else check
        for check in result.checks
    )
    return replace(result, checks=checks)


def places(
    examiner: Examiner,
    submission: Submission,
    failures: dict[str, Failure],
    passed: set[str],
    diagnoses: dict[str, str],
    seconds: float = SECONDS,
    without: str = "",
    is_cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Place]:
    """The place for each failed check that one was found for.

    diagnoses: the sentence of each check that has one; seconds: at most so long; without: a known mistake that is
    left out, for measuring. Raises nothing: where the search breaks, no line is told.
    """
    none: dict[str, Place] = {}
    arguments = (examiner, submission, failures, passed, diagnoses, seconds, without, is_cancelled)
    return containment.optional("the search for the line", none, _places, *arguments)


def _places(
    examiner: Examiner,
    submission: Submission,
    failures: dict[str, Failure],
    passed: set[str],
    diagnoses: dict[str, str],
    seconds: float,
    without: str,
    is_cancelled: Callable[[], bool],
) -> dict[str, Place]:
    begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
    begun = {
        name: failure for name, failure in begun.items() if not failure.check.measured
    }  # large inputs, and seconds
    if not begun or nesting(submission.source) > MAX_DEPTH:
        return {}
    try:
        tree = Tree(submission.source)
    except (SyntaxError, ValueError):
        return {}
    if not tree.units:
        return {}
    trial = Trial(examiner, submission, time.monotonic() + seconds, is_cancelled)
    try:
        found = Search(examiner, tree, trial, begun, passed, diagnoses, without).run()
        return {} if is_cancelled() else found
    except InfrastructureError:
        if is_cancelled():
            return {}
        raise
    finally:
        trial.close()


class Search:
    """One submission's search, from blame to the lines."""

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        failures: dict[str, Failure],
        passed: set[str],
        diagnoses: dict[str, str],
        without: str,
    ):
        self.examiner, self.tree, self.trial, self.without = examiner, tree, trial, without
        self.failures, self.diagnoses = failures, diagnoses
        checks = {check.id: check for check in examiner.session.checks if not check.measured}
        failing = tuple(checks[name] for name in failures)
        passing = tuple(checks[name] for name in checks if name in passed)
        found = probes(examiner, trial, failing)
        self.blame = Blame(examiner, tree, trial, failing, found)
        self.repairs = Repairs(examiner, tree, trial, self.blame, found, passing)
        known = passed | failures.keys()
        self.repairs.others = tuple(check for name, check in checks.items() if name not in known)

    def run(self) -> dict[str, Place]:
        """The place of each failed check."""
        found: dict[str, Place] = {}
        for group in self.blame.groups():
            left = [check.id for check in group.checks if check.id not in found or not found[check.id].lines]
            told = [
                check.id for check in group.checks if check.id not in left and group.base
            ]  # of two that hide another
            place = self.place(group) if left or told else None
            if place is not None:
                found |= dict.fromkeys(left, place)
                found |= {name: _both(found[name], place) for name in told if place.lines}
        for name, failure in self.failures.items():
            line = _told_line(failure)
            if line and (name not in found or found[name].how == "definition"):
                found[name] = self.told((line,), "message")
        return found

    def place(self, group: Group) -> Place | None:
        """By a change that was tried; else the construct of the named mistake; else the definition alone."""
        guide = self.guidance(group)
        repairs = self.repairs
        edit = repairs.whole(group, repairs.parts(group))
        lines = repairs.several(group, 2) if edit is None else ()
        if edit is None and not lines:
            edit = repairs.whole(group, repairs.all(group, guide))
        if edit is not None:
            return self.told(edit.lines or (edit.line,), "repair", edit.kind)
        lines = lines or repairs.several(group, 3)
        if lines:
            return self.told(lines, "several")
        edit = repairs.partial(group, repairs.all(group, guide))
        if edit is not None:
            return self.told(edit.lines or (edit.line,), "part", edit.kind)
        line = guide.construct(self.tree, group.units) if guide is not None else None
        if line is not None:
            return self.told((line,), "construct")
        return self.definition(group) if self.blame.solution is not None else None

    def definition(self, group: Group) -> Place | None:
        """The definition alone: of a method its class, where another method might be wrong."""
        first, *helpers = group.units
        if len(group.units) > len(self.tree.units) // 2 + 1:
            owners = {unit.owner.name if unit.owner is not None else "" for unit in group.units}
            owner = owners.pop() if len(owners) == 1 else ""
            return Place((), f"The mistake is in the class {owner}.", "definition") if owner else None
        name = f"the class {first.owner.name}" if first.owner is not None and not group.is_sure else first.name
        within = None if group.is_sure or first.owner is None else first.owner
        outside = [unit.name for unit in helpers if within is None or unit.owner is not within]
        more = f", or in what it calls: {', '.join(outside)}" if outside else ""
        return Place((), f"The mistake is in {name}{more}.", "definition")

    def guidance(self, group: Group) -> Guidance | None:
        """What the mistake that was named for these checks changes in the solution."""
        sentences = {self.diagnoses.get(check.id, "") for check in group.checks} - {""}
        named = [
            mistake
            for mistake in mistakes.mistakes(self.examiner.exercise.folder)
            if mistake.name != self.without and mistake.sentence and any(mistake.sentence in one for one in sentences)
        ]
        if self.blame.solution is None or not named:
            return None
        return guidance.of(named[0].source, paths.solution(self.examiner.exercise.folder).read_text("utf-8"))

    def told(self, lines: tuple[int, ...], how: str, kind: str = "") -> Place:
        """A place with its sentence: the lines, the code of a single one, and what kind of change helped."""
        code = self.tree.lines[lines[0] - 1].strip() if lines[0] <= len(self.tree.lines) else ""
        code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
        source = self.trial.submission.source
        where = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
        if len(lines) > 1 and is_notebook(source):
            where = "; ".join(place(source, line) for line in lines)
        return Place(lines, f"Look at {where}{f': {kind}' if kind else ''}.", how)


def _both(one: Place, other: Place) -> Place:
    """Two places that a check fails for."""
    if set(other.lines) <= set(one.lines):
        return one
    return Place((*one.lines, *other.lines), f"{one.sentence} {other.sentence}", one.how)


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _told_line(failure: Failure) -> int:
    """The line of a forbidden use, which the failure itself tells; 0 where it tells none.

    Where an exception is raised is no line to tell: the mistake is often made before.
    """
    error = failure.error
    if isinstance(error, Mismatch) and error.summary.startswith(FORBIDDEN):
        number = error.summary.removeprefix(FORBIDDEN).partition(" ")[0]
        return int(number) if number.isdigit() else 0
    return 0
