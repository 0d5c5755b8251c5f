"""Finds the definition that is to blame for failed checks.

A definition is to blame if the failed checks pass once it is replaced by the solution's.
"""

import ast
import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass

from grader.catalog import paths
from grader.catalog.patches import FUNCTION
from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.donors import names_in
from grader.judge.where.edits import Change, Tree, Unit
from grader.judge.where.trial import Trial

MAX_PAIRS = 10  # of definitions that are replaced together


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

    solution: None where there is none. failing: the failed checks.
    """

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial, failing: tuple[Check, ...]):
        path = paths.solution(examiner.exercise.folder)
        self.solution = Tree(path.read_text("utf-8")) if path.exists() else None
        self.tree, self.trial, self.failing = tree, trial, failing

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
                name = other.node.name
                is_called = owner in used_names or (name in used_names and not name.startswith("__"))
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
        """The failed checks that this source passes."""
        if not self.trial.load(source):
            return frozenset()
        return frozenset(check for check in self.failing if self.trial.passes(check))

    def _of_pairs(self, unassigned: tuple[Check, ...]) -> list[Group]:
        """The groups of two definitions that are both wrong, so that replacing one of them fixes nothing."""
        units = [unit for unit in self.tree.units if self.twin(unit) is not None]
        pairs = [(first, second) for number, first in enumerate(units) for second in units[number + 1 :]]
        for first, second in pairs[:MAX_PAIRS]:
            if self.trial.is_over:
                break
            fixed = self.fixed((first, second))
            mended_checks = tuple(check for check in unassigned if check in fixed)
            if mended_checks and first.owner is not None and first.owner is second.owner:
                return [Group(self.with_helpers([first, second]), mended_checks)]  # they may not fit apart
            if mended_checks:
                turns = (first, second), (second, first)
                return [Group(self.with_helpers([one]), mended_checks, self.swap((other,))) for one, other in turns]
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
        elif isinstance(node, FUNCTION):
            node.returns = None
    return bare
