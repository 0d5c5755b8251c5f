"""Finds the definition that is to blame, and says where a mistake is: lines with their code, or the definition alone.

A definition is to blame if the failed checks pass once it is replaced by the solution's.
"""

import ast
import copy
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import SUGGESTION
from grader.judge.examiner import Examiner
from grader.judge.failure import Failure
from grader.judge.general_sentences import IN_PLACE, WRITES_INTO_A_LEAF, faults_of_kind
from grader.judge.where.donors import names_in
from grader.judge.where.edits import MISSING, Change, Tree, Unit
from grader.judge.where.expressions import ORDER_OF_PARTS, THE_SCALE
from grader.judge.where.statements import A_RETURN, AN_ORDER, NOT_KEPT
from grader.judge.where.trial import Probe, Trial
from grader.records.evidence import Mark
from grader.records.sanitize import inert
from grader.records.syntax import FUNCTIONS, is_notebook, place
from grader.sandbox.call_results import LearnerError

MAX_PAIRS = 10  # of definitions that are replaced together
METHODS = {"__call__": "forward"}  # which method of a module a call runs
MAX_CODE = 60  # characters of a line that are shown
# What a verdict says beside the underlined code, by the kind of the edit that helped. Most kinds say nothing more.
KINDS = {
    MISSING: "something is missing here", A_RETURN: "this is what is returned", NOT_KEPT: "this result is not kept",
    AN_ORDER: "these lines are in another order", THE_SCALE: "the scale", "an operator": "this operator",
    "a comparison": "this comparison", "a condition": "this condition", "an index": "this index", "a size": "this size",
    "a sign": "this sign", "which value is used": "this value", "a transpose": "which dimensions change places",
    "the order of two operands": "the order of these two", ORDER_OF_PARTS: "the order of the parts",
    f"{THE_SCALE}, in one of them": "the scale, in one of these lines",
}  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Failed checks, and the definitions that may be to blame for them.

    base: changes that are made together with every edit. is_sure: whether no other definition may be to blame.
    """

    units: tuple[Unit, ...]
    checks: tuple[Check, ...]
    base: tuple[Change, ...] = ()
    is_sure: bool = False


class Blame:
    """Replaces definitions of the learner's by the solution's.

    solution: None where there is none. failing: the failed checks; probes: by their ids.
    """

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        failing: tuple[Check, ...],
        probes: dict[str, Probe],
    ):
        path = paths.solution(examiner.exercise.folder)
        self.solution = Tree(path.read_text("utf-8")) if path.exists() else None
        self.tree, self.trial, self.failing, self.probes = tree, trial, failing, probes

    def groups(self) -> list[Group]:
        """The failed checks, grouped by the definition that is to blame; one group of all where that is unknown."""
        everything = Group(self.tree.units, self.failing)
        if self.solution is None:
            return [everything]
        fixed = {unit.name: self.fixed((unit,)) for unit in self.tree.units if self.twin(unit) is not None}
        sufficient = [unit for unit in self.tree.units if len(fixed.get(unit.name, ())) == len(self.failing)]
        if sufficient:
            is_sure = len(sufficient) == 1
            return [Group(self.with_helpers([unit]), self.failing, (), is_sure) for unit in sufficient[:2]]
        groups: list[Group] = []
        unassigned = list(self.failing)
        for unit in sorted(self.tree.units, key=lambda unit: -len(fixed.get(unit.name, ()))):
            own_checks = tuple(check for check in unassigned if check in fixed.get(unit.name, ()))
            if own_checks:
                groups.append(Group(self.with_helpers([unit]), own_checks))
                unassigned = [check for check in unassigned if check not in own_checks]
        if unassigned:
            groups += self._of_pairs(tuple(unassigned)) or self._of_classes(tuple(unassigned))
        return groups or [everything]

    def with_helpers(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """These definitions, and those that they call by their names and the solution lacks."""
        units_found = list(units)
        for unit in units_found:  # the loop extends the list
            used_names = names_in(unit.node)
            for other in self.tree.units:
                owner = other.owner.name if other.owner is not None else ""
                is_called = (other.node.name in used_names and not other.node.name.startswith("__")) or (
                    owner in used_names
                )
                if is_called and self.twin(other) is None and other not in units_found:
                    units_found.append(other)
        return tuple(units_found)

    def twin(self, unit: Unit) -> Unit | None:
        """The solution's definition of the same name."""
        solution_units = self.solution.units if self.solution is not None else ()
        return next((candidate for candidate in solution_units if candidate.name == unit.name), None)

    @property
    def helpers(self) -> frozenset[str]:
        """The names of the learner's functions, classes and methods that the solution does not have."""
        solution_names = {unit.name for unit in self.solution.units} if self.solution is not None else set()
        classes = {name.partition(".")[0] for name in solution_names}
        own_names = {unit.owner.name for unit in self.tree.units if unit.owner is not None} - classes
        own_names |= {unit.node.name for unit in self.tree.units if unit.name not in solution_names}
        return frozenset(own_names)

    def fixed(self, units: Sequence[Unit]) -> frozenset[Check]:
        """The failed checks that pass once these definitions are replaced by the solution's."""
        return self._passing(self.with_solution(self.swap(units), {unit.top for unit in units}))

    def swap(self, units: Sequence[Unit]) -> tuple[Change, ...]:
        """The changes that replace these definitions by the solution's."""
        changes = []
        for unit in units:
            twin, holder = self.twin(unit), unit.owner or self.tree.module
            assert twin is not None
            changes.append(Change(holder, "body", holder.body.index(unit.node), without_hints(twin.node)))
        return tuple(changes)

    def with_solution(self, changes: tuple[Change, ...], tops: set[int]) -> str:
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

    def _passing(self, source: str) -> frozenset[Check]:
        """The failed checks that this source passes. Their probes are asked first, as they cost little."""
        probed = [check for check in self.failing if check.id in self.probes]
        requests = [request for check in probed for request in self.probes[check.id].requests]
        answer = next(iter(self.trial.answers([source], requests)), None) if probed else None
        promising = [check for check in self.failing if check.id not in self.probes]
        if probed:
            position = 0
            rightly_answered = []
            for check in probed:
                position += len(self.probes[check.id].requests)
                if answer is not None and self.probes[check.id].fits(answer[position - 1]):
                    rightly_answered.append(check)
            if not rightly_answered:
                return frozenset()
            promising += rightly_answered
        if not self.trial.load(source):
            return frozenset()
        return frozenset(check for check in promising if self.trial.passes(check))

    def _of_pairs(self, unassigned: tuple[Check, ...]) -> list[Group]:
        """The groups of two definitions that are both wrong, so that replacing one of them fixes nothing."""
        units = [unit for unit in self.tree.units if self.twin(unit) is not None]
        pairs = [(first, second) for number, first in enumerate(units) for second in units[number + 1 :]]
        for first, second in pairs[:MAX_PAIRS]:
            if self.trial.is_over:
                break
            fixed = self.fixed((first, second))
            mended_checks = tuple(check for check in unassigned if check in fixed)
            if (
                mended_checks and first.owner is not None and first.owner is second.owner
            ):  # one may not fit the other's old form
                return [Group(self.with_helpers([first, second]), mended_checks)]
            if mended_checks:
                return [
                    Group(self.with_helpers([first]), mended_checks, self.swap((second,))),
                    Group(self.with_helpers([second]), mended_checks, self.swap((first,))),
                ]
        return []

    def _of_classes(self, unassigned: tuple[Check, ...]) -> list[Group]:
        """The group of all methods of a class, where the solution's class fixes what no single method does."""
        assert self.solution is not None
        for name in dict.fromkeys(unit.owner.name for unit in self.tree.units if unit.owner is not None):
            units = tuple(unit for unit in self.tree.units if unit.owner is not None and unit.owner.name == name)
            classes = [node for node in self.solution.module.body if isinstance(node, ast.ClassDef)]
            solution_class = next((node for node in classes if node.name == name), None)
            if solution_class is None or self.trial.is_over:
                continue
            change = (Change(self.tree.module, "body", units[0].top, without_hints(solution_class)),)
            fixed = self._passing(self.with_solution(change, {units[0].top}))
            mended_checks = tuple(check for check in unassigned if check in fixed)
            if mended_checks:
                return [Group(self.with_helpers(units), mended_checks)]
        return []


@functools.lru_cache(256)
def without_hints(definition: ast.AST) -> ast.AST:
    """A definition of the solution's without type hints, which may name what the learner's file does not have."""
    bare = copy.deepcopy(definition)
    for node in ast.walk(bare):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, FUNCTIONS):
            node.returns = None
    return bare


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1; () where the definition alone is known. sentence: what other tools
    read, a line of text for each place. evidence: how it was found: "repair", "several" (several changes together),
    "part" (a change fixes some of the checks), "message", "construct" or "definition". marks: what is underlined;
    function: around the first line; kind: of the change that helped.
    """

    lines: tuple[int, ...]
    sentence: str
    evidence: str
    marks: tuple[Mark, ...] = ()
    function: str = ""
    kind: str = ""

    @property
    def is_tried(self) -> bool:
        """Whether a change was tried there, and helped."""
        return self.evidence in ("repair", "part")


def at_lines(
    source: str, source_lines: Sequence[str], marks: tuple[Mark, ...], evidence: str, function: str = "", kind: str = ""
) -> Place:
    """A place of lines. The sentence names them, and the code of a single one.

    source: as it was submitted; source_lines: its lines.
    """
    lines = tuple(line for line, _, _ in marks)
    code = source_lines[lines[0] - 1].strip() if lines[0] <= len(source_lines) else ""
    code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
    location = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
    if len(lines) > 1 and is_notebook(source):
        location = "; ".join(place(source, line) for line in lines)
    return Place(lines, f"Look at {location}.", evidence, marks, function, KINDS.get(kind, ""))


def in_definition(group: Group, tree: Tree) -> Place | None:
    """The place that is a definition alone: for a method its class, where another method might be wrong."""
    blamed, *helpers = group.units
    if len(group.units) > len(tree.units) // 2 + 1:
        owners = {unit.owner.name if unit.owner is not None else "" for unit in group.units}
        if len(owners) > 1 and len(group.units) < len(tree.units) and blamed.owner is not None:  # a class with helpers
            is_whole = all(unit in group.units for unit in tree.units if unit.owner is blamed.owner)
            owners = {blamed.owner.name} if is_whole else owners
        owner = owners.pop() if len(owners) == 1 else ""
        return Place((), f"The mistake is in the class {owner}.", "definition") if owner else None
    name = f"the class {blamed.owner.name}" if blamed.owner is not None and not group.is_sure else blamed.name
    blamed_class = None if group.is_sure or blamed.owner is None else blamed.owner
    helper_names = [unit.name for unit in helpers if blamed_class is None or unit.owner is not blamed_class]
    addition = f", or in what it calls: {', '.join(helper_names)}" if helper_names else ""
    head = ((blamed.node.lineno, 0, 0),) if blamed_class is None else ()
    return Place((), f"The mistake is in {name}{addition}.", "definition", head, blamed.name)


def both(first: Place, second: Place) -> Place:
    """The two places for which a check fails, as one."""
    if set(second.lines) <= set(first.lines):
        return first
    sentence = f"{first.sentence}\n{second.sentence}"
    return replace(first, lines=(*first.lines, *second.lines), sentence=sentence, marks=(*first.marks, *second.marks))


def certain_line(failure: Failure) -> int:
    """The line of a forbidden function, or of a name with a slip in it, for the mistake is nowhere else; or 0."""
    error = failure.error
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        return error.frame[0] if SUGGESTION.search(str(error.facts.get("message", ""))) else 0
    return failure.uses_at


def lines_of_faults(failure: Failure, source: str) -> tuple[int, ...]:
    """The lines that write into an argument, move to another device or cut a gradient, where that failed; else ()."""
    error = failure.error
    message = str(error.facts.get("message")) if isinstance(error, LearnerError) else ""
    if getattr(error, "cause", None) == IN_PLACE or re.match(WRITES_INTO_A_LEAF, message):
        kind = "in place"
    elif failure.is_on_other_device:
        kind = "own device"
    elif getattr(error, "kind", "") == "gradient":
        kind = "cut"
    else:
        return ()
    return tuple(sorted({fault["line"] for fault in faults_of_kind(source, kind, {failure.last_called})}))


def head_line(failure: Failure, tree: Tree) -> int:
    """The line of the definition that cannot be called as the check calls it; 0 where the failure is another."""
    error = failure.error
    if not isinstance(error, LearnerError) or error.kind != "signature" or error.call is None:
        return 0
    owner, _, method = error.call.function.partition(".")
    names = (owner, f"{owner}.__init__") if not method else (f"{owner}.{METHODS.get(method, method)}",)
    return next((unit.node.lineno for unit in tree.units if unit.name in names), 0)


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"
