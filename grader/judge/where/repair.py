"""Tries edits in the definitions that are to blame until the failed checks pass."""

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.alignment import Alignment
from grader.judge.where.blame import Blame, Group
from grader.judge.where.bypass import bypassed
from grader.judge.where.donors import donor_edits
from grader.judge.where.edit_trials import EditTrials, UnitEdit
from grader.judge.where.edits import Edit, Tree, Unit, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.guidance import Guidance, WordsBefore
from grader.judge.where.probes import Probe
from grader.judge.where.scope import Scope
from grader.judge.where.several import MAX_CHANGES, Step, minimized, steps
from grader.judge.where.statements import statement_edits
from grader.judge.where.stretches import stretch
from grader.judge.where.trial import Trial
from grader.judge.where.values import Suspicion
from grader.judge.where.wraps import SCALED, takes_a_scale

LATER_TIERS = 3  # added to the tier of an edit on a line after the one that computes a wrong value
MAX_EDITS_AFTER_DOUBT = 300  # edits that are tried after one that bypasses a value
MAX_DOUBTFUL_LINES = 4
MAX_CERTAIN_LINES = 2  # at most so many are reported before all edits were tried
MAX_SCALE_EDITS = 6  # edits that put in a scale elsewhere
LAST_LIKELY_TIER = 1  # edits of higher tiers are not tried where a repair may be partial


class Repairs(EditTrials):
    """Tries the edits of one submission.

    doubtful_lines: the first lines that were found with a doubt: they are many, or their change bypasses a value.
    """

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        blame: Blame,
        probes: dict[str, Probe],
        passing: tuple[Check, ...],
    ):
        super().__init__(examiner, tree, trial, blame, probes, passing)
        self.aligned = functools.cache(Alignment)
        self.donor_edits = functools.cache(lambda alignment: list(donor_edits(alignment, blame.helpers)))
        self.doubtful_lines: tuple[int, ...] = ()

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
            scope = Scope.of(unit, self.tree.units)
            edits = [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]
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

    def several_lines(self, group: Group) -> tuple[int, ...]:
        """A few lines with which the group's checks pass, once their statements are replaced together; () without any.

        They are single statements, else one stretch of them. More than MAX_CERTAIN_LINES become `doubtful_lines`.
        """
        replaced: list[Step] = []
        left_out: list[Step] = []
        for unit, alignment in self.alignments(group):
            if self.blame.twin(unit) is not None:
                replacing, others = steps(alignment, self.blame.helpers)
                replaced, left_out = replaced + replacing, left_out + others
        tops = {unit.top for unit in group.units}

        def mends(selection: Sequence[Step]) -> bool:
            changes = tuple(change for step in selection for change in step.changes)
            source = self.changed(group, changes, tops)
            return source is not None and self.is_mended(group, source)

        for selection in (replaced, [*replaced, *left_out]) if left_out else (replaced,):
            if 1 < len(selection) <= MAX_CHANGES and not self.trial.is_over and mends(selection):
                needed_steps = minimized(selection, mends)
                lines = self.certain_lines(group, needed_steps, {step.line for step in needed_steps})
                if lines:
                    return lines
                break
        for unit, alignment in self.alignments(group):
            if self.blame.twin(unit) is None or self.doubtful_lines:
                continue
            replacement = stretch(alignment, self.blame.own)
            if replacement is not None and not self.trial.is_over and mends([replacement[0]]):
                return self.certain_lines(group, [replacement[0]], set(replacement[1]))
        return ()

    def certain_lines(self, group: Group, steps: Sequence[Step], lines: set[int]) -> tuple[int, ...]:
        """The lines of steps that mend; () where there is a doubt: they are many, or bypass a value."""
        changes = tuple(change for step in steps for change in step.changes)
        bypassed_lines = {line for unit in group.units for line in bypassed(unit, changes)}
        bypassed_lines = bypassed_lines & self.unmatched_lines(group) - lines
        if not bypassed_lines and len(lines) <= MAX_CERTAIN_LINES:
            return tuple(sorted(lines))
        self.keep_doubtful({*lines, *bypassed_lines})
        return ()

    def full_repair(
        self, group: Group, edits: Iterable[UnitEdit], right_lines: frozenset[int] = frozenset()
    ) -> Edit | None:
        """The first edit after which every failed check of the group passes, and none that passed before fails.

        The lines of one that bypasses a value of the learner's become `doubtful_lines`. right_lines: lines whose values
        are known to be right.
        """
        for unit, edit in self.sifted(group, self._limited(edits)):
            if self.trial.is_over:
                break
            if self.mends(group, unit, edit) and self.confirmed(group):
                lines = {edit.line, *edit.lines}
                bypassed_lines = bypassed(unit, edit.changes) & self.unmatched_lines(group) - right_lines - lines
                if not bypassed_lines:
                    return edit
                self.keep_doubtful({*lines, *bypassed_lines})
        return None

    def of_a_scale(self, group: Group, repair: Edit, edits: Iterable[UnitEdit]) -> Edit:
        """A scale that is missing may be put in at several lines: the edit with those where it usually stands.

        These are the product of queries and keys, and what softmax is called with.
        """
        if repair.sign is None or repair.sign[0] != SCALED or len(repair.changes) > 1:
            return repair
        others = [pair for pair in edits if pair[1].sign == repair.sign and takes_a_scale(pair[1].changes[0])]
        lines = {repair.line}
        for unit, edit in others[:MAX_SCALE_EDITS]:
            if edit.line not in lines and not self.trial.is_over and self.mends(group, unit, edit):
                lines.add(edit.line)
        if len(lines) == 1 or len(lines) > MAX_DOUBTFUL_LINES:
            return repair
        return replace(repair, lines=tuple(sorted(lines)), kind=f"{repair.kind}, in one of them")

    def keep_doubtful(self, lines: set[int]) -> None:
        """Keep these lines as doubtful, unless there are some already."""
        if not self.doubtful_lines and len(lines) <= MAX_DOUBTFUL_LINES:
            self.doubtful_lines = tuple(sorted(lines))

    def _limited(self, edits: Iterable[UnitEdit]) -> Iterator[UnitEdit]:
        """The edits, but only some more of them once there are doubtful lines."""
        remaining = MAX_EDITS_AFTER_DOUBT
        for pair in edits:
            remaining -= bool(self.doubtful_lines)
            if remaining < 0:
                return
            yield pair

    def partial_repair(self, group: Group, edits: Iterable[UnitEdit]) -> Edit | None:
        """The first edit after which one failed check passes, and none that passed before fails."""
        likely_edits = [pair for pair in edits if pair[1].tier <= LAST_LIKELY_TIER]
        for check in group.checks[1:4] if len(group.checks) > 1 else ():
            single_check = Group(group.units, (check,), group.base)
            for unit, edit in self.sifted(single_check, likely_edits):
                if self.trial.is_over:
                    return None
                if self.mends(single_check, unit, edit) and self.confirmed(single_check):
                    return edit
        return None


def head_of(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement and the line after its last; of a statement with a body, those of its head."""
    body = getattr(node, "body", None)
    last_line = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return node.lineno, max(last_line, node.lineno) + 1
