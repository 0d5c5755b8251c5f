"""Tries edits of a group's definitions: first its cheapest probe is asked, then the checks are run."""

from collections.abc import Iterable, Iterator

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.where.blame import Blame, Group
from grader.judge.where.edits import Change, Edit, Tree, Unit
from grader.judge.where.probes import Probe, sifted
from grader.judge.where.swapping import Swap, can_be_swapped
from grader.judge.where.trial import Trial
from grader.records.seeds import part

INVALID = (ValueError, TypeError, AttributeError, IndexError, RecursionError)
SEEDS = 1  # other seeds with which a repair must pass too

UnitEdit = tuple[Unit, Edit]


class EditTrials:
    """Tries edits of one submission.

    probes: of the failed checks, by their ids. passing: the checks that no edit may break. unexamined: checks that were
    not run, as one before them failed. fails_unexamined: whether the last candidate passes all others alone.
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
        self.examiner, self.tree, self.trial, self.blame = examiner, tree, trial, blame
        self.probes, self.passing = probes, passing
        self.unexamined: tuple[Check, ...] = ()
        self.fails_unexamined = False

    def sifted(self, group: Group, edits: Iterable[UnitEdit]) -> Iterator[UnitEdit]:
        """The edits after which the group's cheapest probe is answered rightly; all edits where there is no probe."""
        usable_probes = [self.probes[check.id] for check in group.checks if check.id in self.probes]
        candidates = self.candidates(group, edits)
        source = self.changed(group, (), set())
        if usable_probes and source is not None:
            return sifted(self.trial, min(usable_probes, key=lambda probe: probe.cost), source, candidates)
        return (pair for pair, _ in candidates)

    def candidates(self, group: Group, edits: Iterable[UnitEdit]) -> Iterator[tuple[UnitEdit, Swap]]:
        """Each edit with the definition that it gives, without those that give the same one as an earlier edit."""
        seen_texts: set[int] = set()
        for unit, edit in edits:
            try:
                text = self.tree.text(unit, edit.changes)
            except INVALID:
                continue
            if hash((unit.name, text)) in seen_texts:
                continue
            seen_texts.add(hash((unit.name, text)))
            source = "" if can_be_swapped(unit, edit.changes) else self.source(group, unit, edit)
            if source is not None:
                yield (unit, edit), Swap(unit.owner.name if unit.owner is not None else "", text, source)

    def source(self, group: Group, unit: Unit, edit: Edit) -> str | None:
        """The source with the edit; None where it is no valid Python."""
        if group.base:
            return self.changed(group, edit.changes, {unit.top})
        try:
            return self.tree.edited(unit, edit.changes)
        except INVALID:
            return None

    def changed(self, group: Group, changes: tuple[Change, ...], tops: set[int]) -> str | None:
        """The source with changes in several definitions; None where it is no valid Python."""
        try:
            if group.base:
                return self.blame.with_solution((*group.base, *changes), {unit.top for unit in self.tree.units})
            return self.tree.changed(changes, tops)
        except INVALID:
            return None

    def mends(self, group: Group, unit: Unit, edit: Edit) -> bool:
        """Whether the group's checks pass with the edit, and all checks that passed before."""
        self.fails_unexamined = False
        source = self.source(group, unit, edit)
        return source is not None and self.is_mended(group, source)

    def is_mended(self, group: Group, source: str) -> bool:
        """Whether a source passes the group's checks, and all checks that passed before."""
        if not self.trial.load(source) or not self.trial.passes_all((*group.checks, *self.passing)):
            return False
        dependent_checks = self.unexamined if len(group.checks) == len(self.blame.failing) else ()
        self.fails_unexamined = not self.trial.passes_all(dependent_checks)
        return not self.fails_unexamined

    def confirmed(self, group: Group) -> bool:
        """Whether the candidate passes with other seeds too: a weak check may accept a wrong answer by chance."""
        seeds = (part(self.examiner.settings.seed, f"where {number}") for number in range(SEEDS))
        return all(self.trial.passes_with(seed, group.checks) for seed in seeds)
