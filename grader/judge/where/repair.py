"""Tries edits in the definitions that are to blame until the failed checks pass."""

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.alignment import Alignment
from grader.judge.where.blame import Blame, Group
from grader.judge.where.bypass import bypassed
from grader.judge.where.donors import donor_edits
from grader.judge.where.edits import Edit, Tree, Unit, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.guidance import Guidance, WordsBefore
from grader.judge.where.probes import Probe
from grader.judge.where.scope import Scope
from grader.judge.where.several import MAX_CHANGES, Step, needed, steps
from grader.judge.where.statements import statement_edits
from grader.judge.where.stretches import stretch
from grader.judge.where.trial import Trial
from grader.judge.where.trying import Tried, Trying
from grader.judge.where.values import Suspicion

LATER = 3  # how many tiers later an edit comes of a line behind the one that computes a wrong value
AFTERWARDS = 300  # edits that are tried after one that goes round a value
MAX_TOLD = 4  # lines
FEW = 2  # lines: at most so many are told before all edits were tried
LIKELY = 1  # the last tier of edits that may mend a part of the checks alone


class Repairs(Trying):
    """The edits of one submission, tried out."""

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        blame: Blame,
        found: dict[str, Probe],
        passing: tuple[Check, ...],
    ):
        super().__init__(examiner, tree, trial, blame, found, passing)
        self.aligned = functools.cache(Alignment)
        self.parts_of = functools.cache(lambda alignment: list(donor_edits(alignment, blame.helpers)))
        self.spare: tuple[int, ...] = ()  # lines found with a doubt: see `whole`

    def parts(self, group: Group) -> list[Tried]:
        """Parts of the solution on lines that do not stand in it, the most alike first."""
        odd = self.odd(group)
        return [pair for pair in self.donors(group) if pair[1].line in odd and pair[1].tier == 0]

    def all(self, group: Group, guide: Guidance | None, suspicion: Suspicion) -> Iterator[Tried]:
        """All edits by how likely they are: lines that stand in the solution are right for the most part.

        Where one line computes a wrong value from right ones, no other is tried.
        """
        odd = self.odd(group)
        found = self.donors(group)
        for unit in group.units:
            scope = Scope.of(unit, self.tree.units)
            edits = [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]
            found += [(unit, edit) for edit in (*edits, *together(edits))]
        words_before: WordsBefore = {}
        if suspicion.sure is not None:
            found = [pair for pair in found if pair[1].line == suspicion.sure]

        def rank(pair: Tried) -> tuple[float, int]:
            edit = pair[1]
            doubt = (edit.line not in odd) + (edit.line in suspicion.right) + LATER * (edit.line in suspicion.later)
            if guide is None or self.trial.is_cancelled():  # thousands of edits take a while
                return 0.0, edit.tier + doubt
            return -guide.score(edit, words_before), edit.tier + doubt

        return iter(sorted(found, key=rank))

    def alignments(self, group: Group) -> list[tuple[Unit, Alignment]]:
        """Each definition beside the solution's; a helper beside that of the definition that calls it."""
        twins = [(unit, self.blame.twin(unit) or self.blame.twin(group.units[0])) for unit in group.units]
        return [(unit, self.aligned(unit, twin)) for unit, twin in twins if twin is not None]

    def donors(self, group: Group) -> list[Tried]:
        """The edits that take parts of the solution."""
        each = [(unit, self.parts_of(one)) for unit, one in self.alignments(group)]
        return [(unit, edit) for unit, edits in each for edit in edits]

    def odd(self, group: Group) -> set[int]:
        """The lines that do not stand in the solution."""
        return {line for _, one in self.alignments(group) for node in one.odd for line in range(*head_of(node))}

    def several(self, group: Group) -> tuple[int, ...]:
        """A few lines whose statements, replaced together, make the group's checks pass; () without any.

        They are single statements, else one stretch of them. More lines than FEW are kept as `spare`.
        """
        replaced: list[Step] = []
        left_out: list[Step] = []
        for unit, alignment in self.alignments(group):
            if self.blame.twin(unit) is not None:
                some, more = steps(alignment, self.blame.helpers)
                replaced, left_out = replaced + some, left_out + more
        tops = {unit.top for unit in group.units}

        def mends(found: Sequence[Step]) -> bool:
            changes = tuple(change for step in found for change in step.changes)
            source = self.changed(group, changes, tops)
            return source is not None and self.is_mended(group, source)

        for found in (replaced, [*replaced, *left_out]) if left_out else (replaced,):
            if 1 < len(found) <= MAX_CHANGES and not self.trial.is_over and mends(found):
                kept = needed(found, mends)
                lines = self.clean(group, kept, {step.line for step in kept})
                if lines:
                    return lines
                break
        for unit, alignment in self.alignments(group):
            one = stretch(alignment, self.blame.own) if self.blame.twin(unit) is not None and not self.spare else None
            if one is not None and not self.trial.is_over and mends([one[0]]):
                return self.clean(group, [one[0]], set(one[1]))
        return ()

    def clean(self, group: Group, steps: Sequence[Step], lines: set[int]) -> tuple[int, ...]:
        """The lines of what mends; () and kept where they are many, or go round a value of the learner's."""
        changes = tuple(change for step in steps for change in step.changes)
        rounded = {line for unit in group.units for line in bypassed(unit, changes)} & self.odd(group) - lines
        if not rounded and len(lines) <= FEW:
            return tuple(sorted(lines))
        self.keep({*lines, *rounded})
        return ()

    def whole(self, group: Group, edits: Iterable[Tried], right: frozenset[int] = frozenset()) -> Edit | None:
        """The first edit after which every failed check of the group passes, and none that passed before fails.

        One that goes round a value of the learner's is kept as `spare`. right: lines whose values are right.
        """
        for unit, edit in self.sifted(group, self._for_a_while(edits)):
            if self.trial.is_over:
                break
            if self.mends(group, unit, edit) and self.confirmed(group):
                rounded = bypassed(unit, edit.changes) & self.odd(group) - right - {edit.line, *edit.lines}
                if not rounded:
                    return edit
                self.keep({edit.line, *edit.lines, *rounded})
        return None

    def keep(self, lines: set[int]) -> None:
        """Keep the first few lines that were found with a doubt."""
        if not self.spare and len(lines) <= MAX_TOLD:
            self.spare = tuple(sorted(lines))

    def _for_a_while(self, edits: Iterable[Tried]) -> Iterator[Tried]:
        """The edits; where something is spare already, the first of them."""
        left = AFTERWARDS
        for pair in edits:
            left -= bool(self.spare)
            if left < 0:
                return
            yield pair

    def partial(self, group: Group, edits: Iterable[Tried]) -> Edit | None:
        """The first edit after which one failed check passes, and none that passed before fails."""
        likely = [pair for pair in edits if pair[1].tier <= LIKELY]
        for check in group.checks[1:4] if len(group.checks) > 1 else ():
            alone = Group(group.units, (check,), group.base)
            for unit, edit in self.sifted(alone, likely):
                if self.trial.is_over:
                    return None
                if self.mends(alone, unit, edit) and self.confirmed(alone):
                    return edit
        return None


def head_of(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement, of one with a body those of its head: the first, and the one behind the last."""
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return node.lineno, max(last, node.lineno) + 1
