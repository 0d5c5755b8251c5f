"""Which lines are told: the definition that is to blame first, then the change in it after which the checks pass.

Fault localisation by tried repairs: Weimer et al. 2009 (GenProg), Singh et al. 2013 (arXiv 1204.1751).
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

from grader.catalog import mistakes, paths
from grader.catalog.errors import InfrastructureError
from grader.judge.checker import Explained
from grader.judge.examiner import Examiner
from grader.judge.where import guidance
from grader.judge.where.blame import Blame, Group
from grader.judge.where.edits import Tree
from grader.judge.where.guidance import Guidance
from grader.judge.where.place import Place, at_lines, both, head_line, in_definition, told_line
from grader.judge.where.probes import probes
from grader.judge.where.repair import Repairs
from grader.judge.where.trial import Trial
from grader.judge.where.values import NOTHING, Values
from grader.records import containment
from grader.records.results import ExerciseResult
from grader.records.source import nesting
from grader.records.submission import Submission

SECONDS = 1.6  # for one submission
MOST_FOR_KIND = 80  # edits on a line that is known
MAX_DEPTH = 60  # of a source's syntax tree; answers to exercises have some 15


def located(
    examiner: Examiner,
    submission: Submission,
    result: ExerciseResult,
    seconds: float = SECONDS,
    is_cancelled: Callable[[], bool] = lambda: False,
    documented: bool = False,
) -> ExerciseResult:
    """The result with the places of its failed checks: of the submission that the examiner examined last.

    is_cancelled: asked between two candidates; then nothing more is tried. documented: the search is given nothing of
    the hidden checks, neither their outcomes nor diagnoses, and no candidate meets one: for what students read.
    """
    if examiner.explained is None:
        return result
    explained = examiner.explained.documented() if documented else examiner.explained
    found = places(examiner, submission, explained, seconds, is_cancelled=is_cancelled)
    checks = tuple(
        replace(check, lines=found[check.id].lines, where=found[check.id].sentence) if check.id in found else check
        for check in result.checks
    )
    return replace(result, checks=checks)


def places(
    examiner: Examiner,
    submission: Submission,
    explained: Explained,
    seconds: float = SECONDS,
    without: str = "",
    is_cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Place]:
    """The place for each failed check that one was found for.

    seconds: at most so long; without: a known mistake that is left out, for measuring. Raises nothing: where the search
    breaks, no line is told.
    """
    none: dict[str, Place] = {}
    arguments = (examiner, submission, explained, seconds, without, is_cancelled)
    return containment.optional("the search for the line", none, _places, *arguments)


def _places(
    examiner: Examiner,
    submission: Submission,
    explained: Explained,
    seconds: float,
    without: str,
    is_cancelled: Callable[[], bool],
) -> dict[str, Place]:
    explained = explained.begun()
    if not explained.failures or nesting(submission.source) > MAX_DEPTH:
        return {}
    try:
        tree = Tree(submission.source)
    except (SyntaxError, ValueError):
        return {}
    if not tree.units:
        return {}
    trial = Trial(examiner, submission, time.monotonic() + seconds, is_cancelled)
    try:
        found = Search(examiner, tree, trial, explained, without).run()
        return {} if is_cancelled() else found
    except InfrastructureError:
        if is_cancelled():
            return {}
        raise
    finally:
        trial.close()


class Search:
    """One submission's search, from blame to the lines."""

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial, explained: Explained, without: str):
        self.examiner, self.tree, self.trial, self.without = examiner, tree, trial, without
        self.failures, self.diagnoses = explained.failures, explained.diagnoses
        checks = {check.id: check for check in explained.checks}
        failing = tuple(checks[name] for name in explained.failures)
        passing = tuple(checks[name] for name in checks if name in explained.passed)
        found = probes(examiner, trial, failing)
        self.blame = Blame(examiner, tree, trial, failing, found)
        self.values = Values(examiner, tree, trial)
        self.repairs = Repairs(examiner, tree, trial, self.blame, found, passing)
        known = explained.passed | explained.failures.keys()
        self.repairs.others = tuple(check for name, check in checks.items() if name not in known)

    def run(self) -> dict[str, Place]:
        """The place of each failed check."""
        found: dict[str, Place] = {}
        groups, end = self.blame.groups(), self.trial.deadline
        for number, group in enumerate(groups):
            now = time.monotonic()
            self.trial.deadline = now + (end - now) / (len(groups) - number)  # what one leaves is for the next ones
            left = [check.id for check in group.checks if check.id not in found or not found[check.id].lines]
            told = [
                check.id for check in group.checks if check.id not in left and group.base
            ]  # of two that hide another
            place = self.place(group) if left or told else None
            if place is not None:
                found |= dict.fromkeys(left, place)
                found |= {name: both(found[name], place) for name in told if place.lines}
        for name, failure in self.failures.items():
            line, head = told_line(failure), head_line(failure, self.tree)
            if head or (line and (name not in found or found[name].how == "definition")):
                found[name] = self.told((head or line,), "message")
        return found

    def place(self, group: Group) -> Place | None:
        """By a change that was tried; else the construct of the named mistake; else the definition alone."""
        guide = self.guidance(group)
        repairs = self.repairs
        repairs.spare = ()
        edit = repairs.whole(group, repairs.parts(group))
        lines, suspicion = repairs.several(group) if edit is None else (), NOTHING
        if len(lines) == 1:  # what kind of change helps there
            on_line = repairs.all(group, guide, replace(NOTHING, sure=lines[0]))
            edit = repairs.whole(group, itertools.islice(on_line, MOST_FOR_KIND))
        if edit is None and not lines:
            suspicion = self.values.suspicion(group, repairs.probes)
            edit = repairs.whole(group, repairs.all(group, guide, suspicion), suspicion.right)
            if edit is None and suspicion.sure is not None:
                return self.told((suspicion.sure,), "values", "what is computed there")
        if edit is not None:
            return self.told(edit.lines or (edit.line,), "repair", edit.kind)
        lines = lines or repairs.spare
        if lines:
            return self.told(lines, "several")
        if suspicion.likely is not None:
            return self.told((suspicion.likely,), "values", "what is computed there")
        edit = None if self.trial.is_over else repairs.partial(group, repairs.all(group, guide, NOTHING))
        if edit is not None:
            return self.told(edit.lines or (edit.line,), "part", edit.kind)
        if group.is_guess:
            return None
        line = guide.construct(self.tree, group.units) if guide is not None else None
        if line is not None:
            return self.told((line,), "construct")
        return in_definition(group, self.tree) if self.blame.solution is not None else None

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
        """The place of these lines."""
        return at_lines(self.trial.submission.source, self.tree.lines, lines, how, kind)
