"""Which lines are told: the definition that is to blame first, then the change in it after which the checks pass.

Fault localisation by tried repairs: Weimer et al. 2009 (GenProg), Singh et al. 2013 (arXiv 1204.1751).
"""

import ast
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.catalog import mistakes, paths
from grader.catalog.errors import InfrastructureError
from grader.judge.examiner import Examiner
from grader.judge.failure import Failure
from grader.judge.mismatch import Mismatch
from grader.judge.session import Check
from grader.judge.where import guidance
from grader.judge.where.edits import Change, Edit, Scope, Tree, Unit, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.guidance import Guidance
from grader.judge.where.statements import statement_edits
from grader.judge.where.trial import Trial
from grader.records import containment
from grader.records.places import is_notebook, place
from grader.records.results import ExerciseResult
from grader.records.sanitize import inert
from grader.records.seeds import part
from grader.records.source import nesting
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError

SECONDS = 1.6  # for one submission
MORE_S = 0.25  # after the first repair, to see whether another one says otherwise
MAX_DEPTH = 60  # of a source's syntax tree; answers to exercises have some 15
SEEDS = 2  # with which a repair is tried once more
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


@dataclass(frozen=True)
class Group:
    """Failed checks that one definition is to blame for, and where to search. base: changes made beside every edit."""

    units: tuple[Unit, ...]
    checks: tuple[Check, ...]
    base: tuple[Change, ...] = ()


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
        self.failing = tuple(checks[name] for name in failures)
        self.passing = tuple(checks[name] for name in checks if name in passed)
        self.others = tuple(check for check in checks.values() if check.id not in failures and check.id not in passed)
        path = paths.solution(examiner.exercise.folder)
        self.solution = Tree(path.read_text("utf-8")) if path.exists() else None
        self.seen: set[int] = set()

    def run(self) -> dict[str, Place]:
        found: dict[str, Place] = {}
        for group in self.groups():
            left = [check.id for check in group.checks if check.id not in found or not found[check.id].lines]
            place = self.place(group) if left else None
            if place is not None:
                found |= dict.fromkeys(left, place)
        for name, failure in self.failures.items():
            line = _told_line(failure)
            if line and (name not in found or found[name].how in ("construct", "definition")):
                found[name] = self.told((line,), "message")
        return found

    # Blame.

    def groups(self) -> list[Group]:
        """The failed checks by the definition that is to blame; all of them, where nothing can be said of that."""
        everything = Group(self.tree.units, self.failing)
        if self.solution is None:
            return [everything]
        mended = {unit.name: self.mended((unit,)) for unit in self.tree.units if self._twin(unit) is not None}
        whole = [unit for unit in self.tree.units if len(mended.get(unit.name, ())) == len(self.failing)]
        if whole:
            return [Group(self.with_helpers([unit]), self.failing) for unit in whole[:2]]
        groups: list[Group] = []
        left = list(self.failing)
        for unit in sorted(self.tree.units, key=lambda unit: -len(mended.get(unit.name, ()))):
            own = tuple(check for check in left if check in mended.get(unit.name, ()))
            if own:
                groups.append(Group(self.with_helpers([unit]), own))
                left = [check for check in left if check not in own]
        if left:
            groups += self._of_pairs(tuple(left)) or self._of_classes(tuple(left))
        return [*self._of_shared_helpers(groups), *groups] or [everything]

    def mended(self, units: Sequence[Unit]) -> frozenset[Check]:
        """The failed checks that pass with the solution's definitions in the place of these, where none breaks."""
        changes = self._swap(units)
        if not self.trial.load(self._with_solution(changes, {unit.top for unit in units})):
            return frozenset()
        mended = frozenset(check for check in self.failing if self.trial.passes(check))
        return mended if mended and self.trial.passes_all(self.passing) else frozenset()

    def _of_pairs(self, left: tuple[Check, ...]) -> list[Group]:
        """Two definitions are wrong, and each hides what the other one's mending would show."""
        units = [unit for unit in self.tree.units if self._twin(unit) is not None]
        pairs = [(one, two) for number, one in enumerate(units) for two in units[number + 1 :]]
        for one, two in pairs[:10]:
            own = tuple(check for check in left if check in self.mended((one, two)))
            if own and not self.trial.is_over:
                return [
                    Group(self.with_helpers([one]), own, self._swap((two,))),
                    Group(self.with_helpers([two]), own, self._swap((one,))),
                ]
        return []

    def _of_classes(self, left: tuple[Check, ...]) -> list[Group]:
        """All methods of a class together, where the solution's class mends what no single method does."""
        for name in dict.fromkeys(unit.owner.name for unit in self.tree.units if unit.owner is not None):
            units = tuple(unit for unit in self.tree.units if unit.owner is not None and unit.owner.name == name)
            theirs = self.solution and next(
                (node for node in self.solution.module.body if isinstance(node, ast.ClassDef) and node.name == name),
                None,
            )
            if not theirs:
                continue
            change = (Change(self.tree.module, "body", units[0].top, theirs),)
            if self.trial.load(self._with_solution(change, {units[0].top})):
                own = tuple(check for check in left if self.trial.passes(check))
                if own and self.trial.passes_all(self.passing):
                    return [Group(self.with_helpers(units), own)]
        return []

    def _of_shared_helpers(self, groups: list[Group]) -> list[Group]:
        """A helper of the learner's own that several of the definitions call: its mistake shows in all of them."""
        shared = [unit for unit in self.tree.units if sum(unit in group.units[1:] for group in groups) > 1]
        checks = [check for group in groups if set(shared) & set(group.units) for check in group.checks]
        return [Group(tuple(shared), tuple(checks))] if shared else []

    def with_helpers(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """The units, and the learner's own helpers that they call, which the solution does not have."""
        reached = list(units)
        for unit in reached:  # the loop extends the list
            named = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(unit.node)}
            for other in self.tree.units:
                if other.node.name in named and other not in reached and self._twin(other) is None:
                    reached.append(other)
        return tuple(reached)

    def _twin(self, unit: Unit) -> Unit | None:
        theirs = self.solution.units if self.solution is not None else ()
        return next((other for other in theirs if other.name == unit.name), None)

    def _swap(self, units: Sequence[Unit]) -> tuple[Change, ...]:
        """The solution's definitions in the place of the learner's."""
        changes = []
        for unit in units:
            twin, holder = self._twin(unit), unit.owner or self.tree.module
            assert twin is not None
            changes.append(Change(holder, "body", holder.body.index(unit.node), twin.node))
        return tuple(changes)

    def _with_solution(self, changes: tuple[Change, ...], tops: set[int]) -> str:
        """The source with changes taken from the solution, and with the imports and helpers that those may need."""
        assert self.solution is not None
        source = self.tree.changed(changes, tops)
        defined = {node.name for node in self.tree.module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        extra = [
            ast.unparse(node)
            for node in self.solution.module.body
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign))
            or (isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in defined)
        ]
        return source + "\n".join(extra) + "\n"

    # The lines.

    def place(self, group: Group) -> Place | None:
        """By a change that was tried; else the construct of the named mistake; else the definition alone."""
        guide = self.guidance(group)
        edits = self.ordered(group, guide)
        repaired = self.repair(group, edits)
        if repaired is not None:
            return repaired
        partly = self.part(group, edits)
        if partly is not None:
            return partly
        line = guide.construct(self.tree, group.units) if guide is not None and self.solution is not None else None
        if line is not None:
            return self.told((line,), "construct")
        if self.solution is None or len(group.units) > len(self.tree.units) // 2 + 1:
            return None
        names = [unit.name for unit in group.units]
        more = f", or in what it calls: {', '.join(names[1:])}" if len(names) > 1 else ""
        return Place((), f"The mistake is in {names[0]}{more}.", "definition")

    def guidance(self, group: Group) -> Guidance | None:
        """What the mistake that was named for these checks changes in the solution."""
        sentences = {self.diagnoses.get(check.id, "") for check in group.checks} - {""}
        named = [
            mistake
            for mistake in mistakes.mistakes(self.examiner.exercise.folder)
            if mistake.name != self.without and mistake.sentence and any(mistake.sentence in one for one in sentences)
        ]
        if self.solution is None or not named:
            return None
        return guidance.of(named[0].source, paths.solution(self.examiner.exercise.folder).read_text("utf-8"))

    def ordered(self, group: Group, guide: Guidance | None) -> list[tuple[Unit, Edit]]:
        """All edits in the order in which they are tried."""
        found: list[tuple[Unit, Edit]] = []
        for unit in group.units:
            scope = Scope.of(unit)
            edits = [
                *expression_edits(unit.node, scope),
                *statement_edits(unit.node, scope, unit.owner is not None),
            ]
            found += [(unit, edit) for edit in (*edits, *together(edits))]
        score = guide.score if guide is not None else lambda edit: 0.0
        return sorted(found, key=lambda pair: (-score(pair[1]), pair[1].tier))

    def repair(self, group: Group, edits: Sequence[tuple[Unit, Edit]]) -> Place | None:
        """The line of the first change that makes every failed check of the group pass and breaks none."""
        first: Edit | None = None
        until = self.trial.deadline
        for unit, edit in edits:
            if self.trial.is_over or time.monotonic() >= until:
                break
            if not self.mends(group, unit, edit, group.checks):
                continue
            if first is None:
                if not self.confirmed(group):
                    continue
                first, until = edit, min(self.trial.deadline, time.monotonic() + MORE_S)
            elif abs(edit.line - first.line) > 1 and edit.tier < first.tier:
                first = edit
        if first is None:
            return None
        return self.told(first.lines or (first.line,), "repair", first.kind)

    def mends(self, group: Group, unit: Unit, edit: Edit, checks: Sequence[Check]) -> bool:
        """Whether these checks pass with the edit, and all that passed before."""
        source = self._candidate(group, unit, edit)
        if source is None or not self.trial.load(source) or not self.trial.passes_all(checks):
            return False
        others = self.others if len(group.checks) == len(self.failing) else ()
        return self.trial.passes_all(others) and self.trial.passes_all(self.passing)

    def part(self, group: Group, edits: Sequence[tuple[Unit, Edit]]) -> Place | None:
        """Where no single change mends all: one that mends a failed check and breaks none."""
        if len(group.checks) < 2:
            return None
        for check in group.checks[1:4]:
            self.seen.clear()
            for unit, edit in edits:
                if self.trial.is_over:
                    return None
                alone = Group(group.units, (check,), group.base)
                if edit.tier <= 1 and self.mends(alone, unit, edit, (check,)) and self.confirmed(alone):
                    return self.told(edit.lines or (edit.line,), "part", edit.kind)
        return None

    def told(self, lines: tuple[int, ...], how: str, kind: str = "") -> Place:
        """A place with its sentence: the lines, the code of a single one, and what kind of change helped."""
        code = self.tree.lines[lines[0] - 1].strip() if lines[0] <= len(self.tree.lines) else ""
        code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
        source = self.trial.submission.source
        where = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
        if len(lines) > 1 and is_notebook(source):
            where = "; ".join(place(source, line) for line in lines)
        return Place(lines, f"Look at {where}{f': {kind}' if kind else ''}.", how)

    def confirmed(self, group: Group) -> bool:
        """Whether the candidate passes with other seeds too: weak checks accept nonsense by chance."""
        seeds = (part(self.examiner.settings.seed, f"where {number}") for number in range(SEEDS))
        return all(self.trial.passes_with(seed, (*group.checks, *self.passing)) for seed in seeds)

    def _candidate(self, group: Group, unit: Unit, edit: Edit) -> str | None:
        """The source with the edit, None where it was tried already or is no Python."""
        tops = {unit.top, *(other.top for other in self.tree.units if group.base)}
        try:
            changes = (*group.base, *edit.changes)
            source = self._with_solution(changes, tops) if group.base else self.tree.changed(changes, tops)
        except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
            return None
        number = hash(source)
        if number in self.seen:
            return None
        self.seen.add(number)
        return source


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _told_line(failure: Failure) -> int:
    """The line that the failure itself tells: of an exception, or of a forbidden use; 0 where it tells none."""
    error = failure.error
    if isinstance(error, LearnerError) and error.kind == "exception":
        frames = error.facts.get("frames") or []
        return int(frames[-1][0]) if frames else 0
    if isinstance(error, Mismatch) and error.summary.startswith(FORBIDDEN):
        number = error.summary.removeprefix(FORBIDDEN).partition(" ")[0]
        return int(number) if number.isdigit() else 0
    return 0
