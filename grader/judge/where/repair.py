"""Tries edits in the definitions that are to blame until the failed checks pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.blame import Blame, Group
from grader.judge.where.bypass import bypassed
from grader.judge.where.edit_trials import EditTrials, UnitEdit
from grader.judge.where.edits import Edit, Tree
from grader.judge.where.group_edits import GroupEdits
from grader.judge.where.probes import Probe
from grader.judge.where.several import MAX_CHANGES, Step, minimized, steps
from grader.judge.where.stretches import stretch
from grader.judge.where.trial import Trial
from grader.judge.where.wraps import SCALED, takes_a_scale

MAX_EDITS_AFTER_DOUBT = 300  # edits that are tried after one that bypasses a value
MAX_DOUBTFUL_LINES = 4
MAX_CERTAIN_LINES = 2  # at most so many are reported before all edits were tried
MAX_SCALE_EDITS = 6  # edits that put in a scale elsewhere
LAST_LIKELY_TIER = 1  # edits of higher tiers are not tried where a repair may be partial


class Repairs(EditTrials):
    """Tries the edits of one submission.

    doubtful_lines: the first lines that were found with a doubt: they are many, or their change bypasses a value.
    first_of_two: the first edit that mends all that was examined, and leaves another mistake to checks that were not.
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
        self.group_edits = GroupEdits(tree, trial, blame)
        self.doubtful_lines: tuple[int, ...] = ()
        self.first_of_two: Edit | None = None

    def several_lines(self, group: Group) -> tuple[int, ...]:
        """A few lines with which the group's checks pass, once their statements are replaced together; () without any.

        They are single statements, else one stretch of them. More than MAX_CERTAIN_LINES become `doubtful_lines`.
        """
        replaced: list[Step] = []
        left_out: list[Step] = []
        for unit, alignment in self.group_edits.alignments(group):
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
        for unit, alignment in self.group_edits.alignments(group):
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
        bypassed_lines = bypassed_lines & self.group_edits.unmatched_lines(group) - lines
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
            is_whole = self.mends(group, unit, edit)
            if (is_whole or (self.fails_unexamined and self.first_of_two is None)) and self.confirmed(group):
                lines = {edit.line, *edit.lines}
                bypassed_lines = (
                    bypassed(unit, edit.changes) & self.group_edits.unmatched_lines(group) - right_lines - lines
                )
                if not bypassed_lines:
                    if is_whole:
                        return edit
                    self.first_of_two = edit
                elif is_whole:
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
