"""Which definition is to blame: the one after whose replacement by the solution's the failed checks pass."""

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
    """Failed checks that one definition is to blame for, and where to search. base: changes made beside every edit.

    is_sure: whether the mistake is in these definitions for certain; is_guess: whether nothing was tried to say so.
    """

    units: tuple[Unit, ...]
    checks: tuple[Check, ...]
    base: tuple[Change, ...] = ()
    is_sure: bool = False
    is_guess: bool = False


class Blame(Twins):
    """Puts the solution's definitions in the place of the learner's. failing: the checks; found: their probes."""

    def __init__(
        self, examiner: Examiner, tree: Tree, trial: Trial, failing: tuple[Check, ...], found: dict[str, Probe]
    ):
        path = paths.solution(examiner.exercise.folder)
        super().__init__(tree, Tree(path.read_text("utf-8")) if path.exists() else None)
        self.trial, self.failing, self.probes = trial, failing, found

    def groups(self) -> list[Group]:
        """The failed checks by the definition that is to blame; all of them, where nothing can be said of that."""
        everything = Group(self.tree.units, self.failing)
        if self.solution is None:
            return [everything]
        mended = {unit.name: self.mended((unit,)) for unit in self.tree.units if self.twin(unit) is not None}
        whole = [unit for unit in self.tree.units if len(mended.get(unit.name, ())) == len(self.failing)]
        if whole:
            return [Group(self.with_helpers([unit]), self.failing, (), self.is_sure(unit, whole)) for unit in whole[:2]]
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
        """The failed checks that pass with the solution's definitions in the place of these."""
        return self._passing(self.with_solution(self.swap(units), {unit.top for unit in units}))

    def swap(self, units: Sequence[Unit]) -> tuple[Change, ...]:
        """The solution's definitions in the place of the learner's."""
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

    def is_sure(self, unit: Unit, whole: Sequence[Unit]) -> bool:
        """Whether no other method of its class can hold the mistake: the solution's would stand there and not help.

        Where the solution's methods do not fit the learner's, they tell nothing.
        """
        if len(whole) > 1:
            return False
        if unit.owner is None:
            return True
        others = [other for other in self.tree.units if other.owner is unit.owner and other is not unit]
        twins = [other for other in others if self.twin(other) is not None]
        return all(self._still_runs(other) for other in twins)

    def _still_runs(self, unit: Unit) -> bool:
        """Whether the code with the solution's twin of this gives answers, wrong as they are, and no exception."""
        requests = [request for probe in self.probes.values() for request in probe.requests]
        source = self.with_solution(self.swap((unit,)), {unit.top})
        answer = next(iter(self.trial.answers([source], requests)), None)
        return answer is not None and not any(b'"error"' in body[: 1 << 12] for body in answer)

    def _passing(self, source: str) -> frozenset[Check]:
        """The failed checks that this source passes: by their probes first, which cost little."""
        asked = [check for check in self.failing if check.id in self.probes]
        requests = [request for check in asked for request in self.probes[check.id].requests]
        answer = next(iter(self.trial.answers([source], requests)), None) if asked else None
        likely = [check for check in self.failing if check.id not in self.probes]
        if asked:
            at = 0
            right = []
            for check in asked:
                at += len(self.probes[check.id].requests)
                if answer is not None and self.probes[check.id].fits(answer[at - 1]):
                    right.append(check)
            if not right:
                return frozenset()
            likely += right
        if not self.trial.load(source):
            return frozenset()
        return frozenset(check for check in likely if self.trial.passes(check))

    def _of_pairs(self, left: tuple[Check, ...]) -> list[Group]:
        """Two definitions are wrong, and each hides what the other one's mending would show."""
        units = [unit for unit in self.tree.units if self.twin(unit) is not None]
        pairs = [(one, two) for number, one in enumerate(units) for two in units[number + 1 :]]
        for one, two in pairs[:MAX_PAIRS]:
            if self.trial.is_over:
                break
            mended = self.mended((one, two))
            own = tuple(check for check in left if check in mended)
            if own and one.owner is not None and one.owner is two.owner:  # their parts may not fit each other's
                return [Group(self.with_helpers([one, two]), own)]
            if own:
                return [
                    Group(self.with_helpers([one]), own, self.swap((two,))),
                    Group(self.with_helpers([two]), own, self.swap((one,))),
                ]
        return []

    def _of_classes(self, left: tuple[Check, ...]) -> list[Group]:
        """All methods of a class together, where the solution's class mends what no single method does."""
        assert self.solution is not None
        for name in dict.fromkeys(unit.owner.name for unit in self.tree.units if unit.owner is not None):
            units = tuple(unit for unit in self.tree.units if unit.owner is not None and unit.owner.name == name)
            classes = [node for node in self.solution.module.body if isinstance(node, ast.ClassDef)]
            theirs = next((node for node in classes if node.name == name), None)
            if theirs is None or self.trial.is_over:
                continue
            change = (Change(self.tree.module, "body", units[0].top, theirs),)
            mended = self._passing(self.with_solution(change, {units[0].top}))
            own = tuple(check for check in left if check in mended)
            if own:
                return [Group(self.with_helpers(units), own)]
        return []

    def _of_shared_helpers(self, groups: list[Group]) -> list[Group]:
        """A helper of the learner's own that several of the definitions call: its mistake shows in all of them."""
        shared = [unit for unit in self.tree.units if sum(unit in group.units[1:] for group in groups) > 1]
        checks = [check for group in groups if set(shared) & set(group.units) for check in group.checks]
        return [Group(tuple(shared), tuple(checks), is_guess=True)] if shared else []
