"""Collects the edits to try in the definitions of a group of failed checks, the likeliest first."""

import ast
import functools
from collections.abc import Iterator

from grader.judge.where.alignment import Alignment
from grader.judge.where.blame import Blame, Group
from grader.judge.where.donors import donor_edits, names_in
from grader.judge.where.edit_trials import UnitEdit
from grader.judge.where.edits import Tree, Unit, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.guidance import Guidance, WordsBefore
from grader.judge.where.nodes import head_of, parameter_names
from grader.judge.where.returns import A_RETURN, NOT_KEPT
from grader.judge.where.scope import Scope
from grader.judge.where.statements import ORDER_OF_PARAMETERS, statement_edits
from grader.judge.where.trial import Trial
from grader.judge.where.values import Suspicion

LATER_TIERS = 3  # added to the tier of an edit on a line after the one that computes a wrong value


class GroupEdits:
    """The edits of the definitions of one submission, for one group of failed checks at a time."""

    def __init__(self, tree: Tree, trial: Trial, blame: Blame):
        self.tree, self.trial, self.blame = tree, trial, blame
        self.aligned = functools.cache(Alignment)
        self.donor_edits = functools.cache(lambda alignment: list(donor_edits(alignment, blame.helpers)))

    def unreturned(self, group: Group) -> list[UnitEdit]:
        """The edits that return or keep a value, for functions that return nothing or drop the result of a call."""
        candidates: list[UnitEdit] = []
        for unit in group.units:
            if unit.node.name != "__init__":
                edits = statement_edits(unit.node, Scope.of(unit), unit.owner is not None)
                returns_value = any(isinstance(node, ast.Return) and node.value for node in ast.walk(unit.node))
                kinds = (NOT_KEPT,) if returns_value else (NOT_KEPT, A_RETURN)
                candidates += [(unit, edit) for edit in edits if edit.kind in kinds]
        return candidates

    def solution_parts(self, group: Group) -> list[UnitEdit]:
        """The edits that put parts of the solution into lines that do not occur in it, the most similar first."""
        unmatched = self.unmatched_lines(group)
        return [pair for pair in self.donors(group) if pair[1].line in unmatched and pair[1].tier == 0]

    def all_edits(self, group: Group, guide: Guidance | None, suspicion: Suspicion) -> Iterator[UnitEdit]:
        """All edits, the likeliest first: lines that occur in the solution are mostly right.

        Where one line certainly computes a wrong value from right ones, the edits of that line alone.
        """
        unmatched = self.unmatched_lines(group)
        candidates = self.donors(group)
        for unit in group.units:
            scope = Scope.of(unit, self.callable_in(unit))
            edits = [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]
            twin = self.blame.twin(unit)
            if twin is not None and parameter_names(unit.node) == parameter_names(twin.node):
                edits = [edit for edit in edits if edit.kind != ORDER_OF_PARAMETERS]  # it is the order of the lesson
            candidates += [(unit, edit) for edit in (*edits, *together(edits))]
        words_before: WordsBefore = {}
        if suspicion.certain_line is not None:
            candidates = [pair for pair in candidates if pair[1].line == suspicion.certain_line]

        def rank(pair: UnitEdit) -> tuple[float, int]:
            edit = pair[1]
            tier = edit.tier + (edit.line not in unmatched) + (edit.line in suspicion.right_lines)
            tier += LATER_TIERS * (edit.line in suspicion.later_lines)
            if guide is None or self.trial.is_cancelled():  # to score thousands of edits takes a while
                return 0.0, tier
            return -guide.score(edit, words_before), tier

        return iter(sorted(candidates, key=rank))

    def callable_in(self, unit: Unit) -> list[Unit]:
        """The learner's functions that an edit of a definition may call.

        These are its helpers, and functions of the exercise that the solution calls there: a call of another one would
        bypass the code that stands there.
        """
        twin = self.blame.twin(unit)
        called_names = names_in(twin.node) if twin is not None else frozenset()
        return [other for other in self.tree.units if self.blame.twin(other) is None or other.name in called_names]

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
