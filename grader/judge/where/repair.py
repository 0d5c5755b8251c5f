"""Tries edits in the definitions that are to blame until the failed checks pass."""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from grader.judge.collection import Check
from grader.judge.where.alignment import Alignment, Guidance, WordsBefore
from grader.judge.where.blame import Blame, Group
from grader.judge.where.donors import donor_edits
from grader.judge.where.edits import SLIP, Edit, Scope, Unit, head_of, parameter_names, together
from grader.judge.where.expressions import ORDER_OF_PARTS, expression_edits
from grader.judge.where.statements import (
    A_RETURN,
    AN_ORDER,
    GRAD_OFF,
    NOT_KEPT,
    ORDER_OF_PARAMETERS,
    bypassed,
    statement_edits,
)
from grader.judge.where.undoing import undoing_edits

INVALID = (ValueError, TypeError, AttributeError, IndexError, RecursionError)
UnitEdit = tuple[Unit, Edit]
CUTTING = frozenset(("float", "Parameter", "detach", "detach_", "item", "tolist", "numpy", "tensor"))  # calls
ORDERS = (AN_ORDER, ORDER_OF_PARTS)  # kinds of edits
MAX_PART = 4  # checks of which a change may let one pass alone
MAX_GUIDED = 100  # edits that are tried for one of several named mistakes, besides the likely ones
LAST_LIKELY_TIER = 1  # edits of higher tiers are not tried where a repair may be partial


class GroupEdits:
    """The edits of the definitions of one submission, for one group of failed checks at a time."""

    def __init__(self, blame: Blame):
        self.blame = blame
        self.aligned, self.edits_of = functools.cache(Alignment), functools.cache(_edits_of)
        self.donor_edits = functools.cache(lambda alignment: list(donor_edits(alignment, blame.helpers)))

    def unreturned(self, group: Group) -> list[UnitEdit]:
        """The edits that return or keep a value, for functions that return nothing or drop the result of a call."""
        return self.own(group, _returns_or_keeps)

    def uncutting(self, group: Group) -> list[UnitEdit]:
        """The edits that take away a call or block which cuts a gradient, then those that take away all of one kind."""
        return self.own(group, lambda _, edit: _takes_away_a_cut(edit))

    def slips(self, group: Group) -> list[UnitEdit]:
        """The edits that undo a very common slip: they are few, and tried first."""
        return self.own(group, lambda _, edit: edit.tier == SLIP)

    def own(self, group: Group, accepts: Callable[[Unit, Edit], bool]) -> list[UnitEdit]:
        """The edits that know nothing of the solution, as far as they are accepted, then those of one sign together."""
        candidates: list[UnitEdit] = []
        for unit in group.units:
            edits = [edit for edit in self.edits_of(unit) if accepts(unit, edit)]
            candidates += [(unit, edit) for edit in (*edits, *together(edits))]
        return candidates

    def solution_parts(self, group: Group, guide: Guidance | None) -> list[UnitEdit]:
        """The edits that put parts of the solution into lines that do not occur in it, the most similar first.

        With guidance those alone that undo something of the mistake: others may hide it.
        """
        unmatched = self.unmatched_lines(group)
        parts = [pair for pair in self.donors(group) if pair[1].line in unmatched and pair[1].tier == 0]
        words_before: WordsBefore = {}
        return parts if guide is None else [pair for pair in parts if guide.score(pair[1], words_before) > 0]

    def undoing(self, group: Group, guide: Guidance) -> list[UnitEdit]:
        """The edits that undo the named mistake."""
        return [
            (unit, edit)
            for unit, alignment in self.alignments(group)
            for edit in undoing_edits(alignment, guide.differences.get(alignment.twin.name, ()))
        ]

    def all_edits(self, group: Group, guide: Guidance | None) -> Iterator[UnitEdit]:
        """All edits, the likeliest first: lines that occur in the solution are mostly right."""
        unmatched = self.unmatched_lines(group)
        candidates = self.donors(group) + self.own(group, self._may_be_meant)
        words_before: WordsBefore = {}

        def rank(pair: UnitEdit) -> tuple[float, int]:
            edit = pair[1]
            tier = edit.tier + (edit.line not in unmatched)
            if guide is None or self.blame.trial.is_cancelled():  # to score thousands of edits takes a while
                return 0.0, tier
            return -guide.score(edit, words_before), tier

        return iter(sorted(candidates, key=rank))

    def _may_be_meant(self, unit: Unit, edit: Edit) -> bool:
        """Whether an edit leaves the parameters in the lesson's order."""
        twin = self.blame.twin(unit) if edit.kind == ORDER_OF_PARAMETERS else None
        return twin is None or parameter_names(unit.node) != parameter_names(twin.node)

    def alignments(self, group: Group) -> list[tuple[Unit, Alignment]]:
        """Each definition beside the solution's; a helper beside that of the definition that calls it."""
        twins = [(unit, self.blame.twin(unit) or self.blame.twin(group.units[0])) for unit in group.units]
        return [(unit, self.aligned(unit, twin)) for unit, twin in twins if twin is not None]

    def donors(self, group: Group) -> list[UnitEdit]:
        """The edits that put parts of the solution into the group's definitions."""
        edits_by_unit = [(unit, self.donor_edits(alignment)) for unit, alignment in self.alignments(group)]
        return [(unit, edit) for unit, edits in edits_by_unit for edit in edits]

    def unmatched_lines(self, group: Group) -> set[int]:
        """The lines of the group's definitions that do not occur in the solution."""
        statements = [node for _, alignment in self.alignments(group) for node in alignment.unmatched]
        return {line for node in statements for line in range(*head_of(node))}


class Repairs:
    """Tries the edits of one submission.

    passing: the checks that no edit may break. unexamined: checks that were not run, as one before them failed.
    fails_unexamined: whether the last candidate passes all others alone.
    first_of_two: the first edit that fixes all that was examined, and leaves another mistake to checks that were not.
    """

    def __init__(self, blame: Blame, passing: tuple[Check, ...], unexamined: tuple[Check, ...]):
        self.blame, self.tree, self.trial = blame, blame.tree, blame.trial
        self.passing, self.unexamined = passing, unexamined
        self.fails_unexamined = False
        self.group_edits = GroupEdits(blame)
        self.first_of_two: Edit | None = None

    def full_repair(self, group: Group, edits: Iterable[UnitEdit]) -> Edit | None:
        """The first edit after which every failed check of the group passes, and none that passed before fails.

        One that bypasses a value of the learner's does not count, as the mistake may be in that value.
        """
        for unit, edit, source in self.candidates(group, edits):
            if self.trial.is_over:
                break
            is_whole = self.fixes(group, source)
            if is_whole or (self.fails_unexamined and self.first_of_two is None):
                bypassed_lines = bypassed(unit, edit.changes) & self.group_edits.unmatched_lines(group)
                if bypassed_lines - {edit.line, *edit.lines}:
                    continue
                if is_whole:
                    return edit
                self.first_of_two = edit
        return None

    def joint_repair(self, group: Group, guide: Guidance, undone: Sequence[UnitEdit]) -> UnitEdit | None:
        """The first likely edit that undoes the named mistake, made together with edits that undo others."""
        self.first_of_two = None
        edits, words_before = self.group_edits, WordsBefore()
        likely_edits = [*edits.undoing(group, guide), *edits.solution_parts(group, guide), *edits.slips(group)]
        likely_edits += [
            (unit, edit)
            for unit, edit in edits.all_edits(group, guide)
            if edit.kind in ORDERS or guide.score(edit, words_before) > 0
        ][:MAX_GUIDED]
        for unit in group.units:
            before = [edit for other, edit in undone if other is unit]
            changes = tuple(change for edit in before for change in edit.changes)
            lines = tuple(line for edit in before for line in (edit.line, *edit.lines))
            elsewhere = tuple(change for other, edit in undone if other is not unit for change in edit.changes)
            own = [edit for other, edit in likely_edits if other is unit]
            merged = [
                replace(edit, changes=(*changes, *edit.changes), lines=(edit.line, *edit.lines, *lines)) for edit in own
            ]
            found = self.full_repair(replace(group, base=elsewhere), [(unit, edit) for edit in merged])
            if found is not None:
                return unit, next(edit for edit, one in zip(own, merged) if one is found)
        return None

    def partial_repair(self, group: Group, edits: Iterable[UnitEdit]) -> Edit | None:
        """The first edit after which one failed check passes, and none that passed before fails."""
        likely_edits = [pair for pair in edits if pair[1].tier <= LAST_LIKELY_TIER]
        for check in group.checks[:MAX_PART] if len(group.checks) > 1 else ():
            single_check = Group(group.units, (check,), group.base)
            for _, edit, source in self.candidates(single_check, likely_edits):
                if self.trial.is_over:
                    return None
                if self.fixes(single_check, source):
                    return edit
        return None

    def candidates(self, group: Group, edits: Iterable[UnitEdit]) -> Iterator[tuple[Unit, Edit, str]]:
        """Each edit with the source that it gives, where that is valid Python and no earlier edit gave the same."""
        seen: set[int] = set()
        tops = {unit.top for unit in self.tree.units}
        for unit, edit in edits:
            try:
                if group.base:
                    source = self.blame.with_solution((*group.base, *edit.changes), tops)
                else:
                    source = self.tree.changed(edit.changes, {unit.top})
            except INVALID:
                continue
            if hash(source) not in seen:
                seen.add(hash(source))
                yield unit, edit, source

    def fixes(self, group: Group, source: str) -> bool:
        """Whether the group's checks pass with this source, and all checks that passed before."""
        self.fails_unexamined = False
        if not self.trial.load(source):
            return False
        if not self.trial.passes_all((*group.checks, *self.passing)):
            return False
        dependent_checks = self.unexamined if len(group.checks) == len(self.blame.failing) else ()
        self.fails_unexamined = not self.trial.passes_all(dependent_checks)
        return not self.fails_unexamined


def _edits_of(unit: Unit) -> list[Edit]:
    scope = Scope.of(unit)
    return [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]


def _returns_or_keeps(unit: Unit, edit: Edit) -> bool:
    if edit.kind not in (NOT_KEPT, A_RETURN) or unit.node.name == "__init__":
        return False
    return edit.kind == NOT_KEPT or not any(isinstance(node, ast.Return) and node.value for node in ast.walk(unit.node))


def _takes_away_a_cut(edit: Edit) -> bool:
    is_of_call = edit.sign is not None and edit.sign[0] == "without" and edit.sign[1] in CUTTING
    return is_of_call or edit.sign == ("plain", "data") or edit.kind in GRAD_OFF
