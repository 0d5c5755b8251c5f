"""Finds the definition that is to blame: once it is replaced by the solution's, the failed checks pass."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.edits import Change, Tree, Unit
from grader.judge.where.probes import Probe
from grader.judge.where.trial import Trial
from grader.judge.where.twins import Twins

MAX_PAIRS = 10  # of definitions that are replaced together


@dataclass(frozen=True)
class Group:
    """Failed checks, and the definitions that may be to blame for them.

    base: changes that are made together with every edit. is_sure: whether the mistake is certainly in these
    definitions. is_untested: whether no replacement was tried to find them.
    """

    units: tuple[Unit, ...]
    checks: tuple[Check, ...]
    base: tuple[Change, ...] = ()
    is_sure: bool = False
    is_untested: bool = False


class Blame(Twins):
    """Replaces definitions of the learner's by the solution's. failing: the failed checks; probes: by their ids."""

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        failing: tuple[Check, ...],
        probes: dict[str, Probe],
    ):
        path = paths.solution(examiner.exercise.folder)
        super().__init__(tree, Tree(path.read_text("utf-8")) if path.exists() else None)
        self.trial, self.failing, self.probes = trial, failing, probes

    def groups(self) -> list[Group]:
        """The failed checks, grouped by the definition that is to blame; one group of all where that is unknown."""
        everything = Group(self.tree.units, self.failing)
        if self.solution is None:
            return [everything]
        mended = {unit.name: self.mended((unit,)) for unit in self.tree.units if self.twin(unit) is not None}
        sufficient = [unit for unit in self.tree.units if len(mended.get(unit.name, ())) == len(self.failing)]
        if sufficient:
            certain = len(sufficient) == 1 and self.is_only_suspect(sufficient[0])
            return [Group(self.with_helpers([unit]), self.failing, (), certain) for unit in sufficient[:2]]
        groups: list[Group] = []
        unassigned = list(self.failing)
        for unit in sorted(self.tree.units, key=lambda unit: -len(mended.get(unit.name, ()))):
            own_checks = tuple(check for check in unassigned if check in mended.get(unit.name, ()))
            if own_checks:
                groups.append(Group(self.with_helpers([unit]), own_checks))
                unassigned = [check for check in unassigned if check not in own_checks]
        if unassigned:
            groups += self._of_pairs(tuple(unassigned)) or self._of_classes(tuple(unassigned))
        return [*self._of_shared_helpers(groups), *groups] or [everything]

    def mended(self, units: Sequence[Unit]) -> frozenset[Check]:
        """The failed checks that pass once these definitions are replaced by the solution's."""
        return self._passing(self.with_solution(self.swap(units), {unit.top for unit in units}))

    def swap(self, units: Sequence[Unit]) -> tuple[Change, ...]:
        """The changes that replace these definitions by the solution's."""
        changes = []
        for unit in units:
            twin, holder = self.twin(unit), unit.owner or self.tree.module
            assert twin is not None
            changes.append(Change(holder, "body", holder.body.index(unit.node), twin.node))
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

    def is_only_suspect(self, unit: Unit) -> bool:
        """Whether no other method of its class can hold the mistake, as replacing any other one does not help.

        This says nothing where the code fails with a method of the solution's, as the two do not fit together.
        """
        if unit.owner is None:
            return True
        other_methods = [method for method in self.tree.units if method.owner is unit.owner and method is not unit]
        twins = [method for method in other_methods if self.twin(method) is not None]
        return all(self._still_runs(method) for method in twins)

    def _still_runs(self, unit: Unit) -> bool:
        """Whether the code with this definition of the solution's gives answers, right or wrong, and no exception."""
        requests = [request for probe in self.probes.values() for request in probe.requests]
        source = self.with_solution(self.swap((unit,)), {unit.top})
        answer = next(iter(self.trial.answers([source], requests)), None)
        return answer is not None and not any(b'"error"' in body[: 1 << 12] for body in answer)

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
        """The groups of two definitions that are both wrong, so that replacing one of them mends nothing."""
        units = [unit for unit in self.tree.units if self.twin(unit) is not None]
        pairs = [(first, second) for number, first in enumerate(units) for second in units[number + 1 :]]
        for first, second in pairs[:MAX_PAIRS]:
            if self.trial.is_over:
                break
            mended = self.mended((first, second))
            mended_checks = tuple(check for check in unassigned if check in mended)
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
        """The group of all methods of a class, where the solution's class mends what no single method does."""
        assert self.solution is not None
        for name in dict.fromkeys(unit.owner.name for unit in self.tree.units if unit.owner is not None):
            units = tuple(unit for unit in self.tree.units if unit.owner is not None and unit.owner.name == name)
            classes = [node for node in self.solution.module.body if isinstance(node, ast.ClassDef)]
            solution_class = next((node for node in classes if node.name == name), None)
            if solution_class is None or self.trial.is_over:
                continue
            change = (Change(self.tree.module, "body", units[0].top, solution_class),)
            mended = self._passing(self.with_solution(change, {units[0].top}))
            mended_checks = tuple(check for check in unassigned if check in mended)
            if mended_checks:
                return [Group(self.with_helpers(units), mended_checks)]
        return []

    def _of_shared_helpers(self, groups: list[Group]) -> list[Group]:
        """The group of helpers that several definitions call: a mistake in one of them shows in all."""
        shared = [unit for unit in self.tree.units if sum(unit in group.units[1:] for group in groups) > 1]
        checks = [check for group in groups if set(shared) & set(group.units) for check in group.checks]
        return [Group(tuple(shared), tuple(checks), is_untested=True)] if shared else []
