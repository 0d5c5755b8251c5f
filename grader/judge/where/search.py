"""Finds the lines of a mistake: first the definition that is to blame, then a change in it after which the checks pass.

Fault localisation by trying repairs: Weimer et al. 2009 (GenProg), Singh et al. 2013 (arXiv 1204.1751).
"""

import functools
from collections.abc import Callable
from dataclasses import replace

from grader.catalog.errors import InfrastructureError
from grader.judge.examiner import Examiner, Explained
from grader.judge.where import alignment
from grader.judge.where.edits import Edit, Tree
from grader.judge.where.place import (
    Blame,
    Group,
    Place,
    at_lines,
    both,
    certain_line,
    head_line,
    in_definition,
    lines_of_faults,
)
from grader.judge.where.repair import Repairs, UnitEdit
from grader.judge.where.trial import Trial, probes
from grader.judge.where.underline import marks
from grader.records import containment
from grader.records.evidence import Finding, Mark, at, whole_line
from grader.records.results import CheckResult, ExerciseResult
from grader.records.source import nesting
from grader.records.submission import Submission

WORK = 3_000  # for one submission: see Trial
FOR_A_PART = 1 / 6  # the share of the work that is kept for changes which let some of the checks pass
MAX_CUTS = 12  # what may cut a gradient, in one group of definitions
MAX_DEPTH = 60  # of a source's syntax tree; answers to exercises have some 15


def locate(
    examiner: Examiner, submission: Submission, result: ExerciseResult, is_cancelled: Callable[[], bool] = lambda: False
) -> ExerciseResult:
    """The result of the submission that the examiner examined last, with the places of its failed checks.

    is_cancelled: called between two candidates; once it is true, nothing more is tried. The search uses hidden checks,
    so where the settings reveal nothing, nothing is searched: a student's code decides which changes help.
    """
    if examiner.explained is None or not examiner.settings.reveal:
        return result
    found_places = places(examiner, submission, examiner.explained, WORK, is_cancelled=is_cancelled)
    checks = (
        placed(check, found_places[check.id], submission) if check.id in found_places else check
        for check in result.checks
    )
    return replace(result, checks=tuple(checks))


def placed(check: CheckResult, place: Place | None, submission: Submission) -> CheckResult:
    """The check with its place. A definition alone is no better than the line that the failure itself names."""
    if place is None:
        return check
    finding = check.finding or Finding()
    if place.marks and (place.lines or finding.place is None or not finding.says):
        where, frame = at(submission.source, submission.filename, place.marks, place.function)
        is_tried = finding.tried or place.is_tried
        finding = replace(finding, place=where, frame=frame, kind=place.kind, tried=is_tried)
    return replace(check, lines=place.lines, where=place.sentence, finding=finding)


def places(
    examiner: Examiner,
    submission: Submission,
    explained: Explained,
    work: int = WORK,
    excluded_mistake: str = "",
    is_cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Place]:
    """The place of the mistake for each failed check for which one was found.

    work: how much the search may do. excluded_mistake: a known mistake that gives no guidance, for measuring.
    Raises nothing: where the search breaks, there is no place.
    """
    no_places: dict[str, Place] = {}
    arguments = (examiner, submission, explained, work, excluded_mistake, is_cancelled)
    return containment.optional("the search for the line", no_places, _places, *arguments)


def _places(
    examiner: Examiner,
    submission: Submission,
    explained: Explained,
    work: int,
    excluded_mistake: str,
    is_cancelled: Callable[[], bool],
) -> dict[str, Place]:
    explained = explained.begun()
    if not explained.failures or nesting(submission.source) > MAX_DEPTH:
        return {}
    try:
        tree = Tree(submission.source)
    except (SyntaxError, ValueError):
        return {}
    if not tree.units:
        return {}
    trial = Trial(examiner, submission, work, is_cancelled)
    try:
        found_places = Search(examiner, tree, trial, explained, excluded_mistake).run()
        return {} if is_cancelled() else found_places
    except InfrastructureError:
        if is_cancelled():
            return {}
        raise
    finally:
        trial.close()


class Search:
    """The search in one submission."""

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial, explained: Explained, excluded_mistake: str):
        self.examiner, self.tree, self.trial, self.excluded_mistake = examiner, tree, trial, excluded_mistake
        self.failures, self.diagnoses = explained.failures, explained.diagnoses
        checks = {check.id: check for check in explained.checks}
        failing = tuple(checks[name] for name in explained.failures)
        passing = tuple(checks[name] for name in checks if name in explained.passed)
        probes_by_check = probes(examiner, trial, failing)
        self.blame = Blame(examiner, tree, trial, failing, probes_by_check)
        self.repairs = Repairs(examiner, tree, trial, self.blame, probes_by_check, passing)
        examined = explained.passed | explained.failures.keys()
        self.repairs.unexamined = tuple(check for name, check in checks.items() if name not in examined)

    def run(self) -> dict[str, Place]:
        """The place of each failed check."""
        found_places: dict[str, Place] = {}
        groups, work = self.blame.groups(), self.trial.work

        def has_lines(name: str) -> bool:
            return name in found_places and bool(found_places[name].lines)

        for number, group in enumerate(groups):
            done = self.trial.done
            self.trial.work = done + (work - done) // (len(groups) - number)  # what one leaves is the others'
            found_places |= self.places_of_several(group) if not group.base else {}
            names = [check.id for check in group.checks if group.base or not has_lines(check.id)]
            place = self.place(replace(group, checks=tuple(one for one in group.checks if one.id in names)))
            if place is None:
                continue
            for name in names:
                if not has_lines(name):
                    found_places[name] = place
                elif place.lines:  # two definitions are wrong
                    found_places[name] = both(found_places[name], place)
        for name, failure in self.failures.items():
            certain, head = certain_line(failure), head_line(failure, self.tree)
            line = certain or failure.forbidden_line
            lines = (line,) if line else lines_of_faults(failure, self.trial.submission.source)
            evidence = found_places[name].evidence if name in found_places else "definition"
            if head or (lines and (evidence == "definition" or (certain and evidence == "several"))):
                place = self.place_of((head,) if head else lines, "message")
                found_places |= {name: place} if place is not None else {}
        return found_places

    def places_of_several(self, group: Group) -> dict[str, Place]:
        """The places of the checks of a group in which several known mistakes are named, by undoing each in turn.

        A check that names two of them, or fails of two, passes once the second is undone together with the first.
        """
        texts = {check.id: self.diagnoses.get(check.id, "") for check in group.checks}
        guides = alignment.named(texts.values(), self.examiner.exercise.folder, self.excluded_mistake)
        found_places: dict[str, Place] = {}
        by_sentence: dict[str, Place] = {}
        undone: list[UnitEdit] = []
        waiting = list(guides) if len(guides) > 1 else []
        turns = list(waiting)
        while turns:
            sentence = turns.pop(0)
            checks = [check for check in group.checks if sentence in texts[check.id]]
            others = {other for other in waiting if other != sentence}
            alone = tuple(check for check in checks if not any(other in texts[check.id] for other in others))
            found = alone and self.repairs.joint_repair(replace(group, checks=alone), guides[sentence], undone)
            if found:
                undone.append(found)
                waiting.remove(sentence)
                turns = list(waiting)  # what did not help alone may help together
                place = self.place_of_edit(found[1], "repair")
                by_sentence |= {sentence: place} if place is not None else {}
                for check in alone:
                    parts = [by_sentence[other] for other in by_sentence if other in texts[check.id]]
                    found_places |= {check.id: functools.reduce(both, parts)} if parts else {}
        return found_places

    def place(self, group: Group) -> Place | None:
        """The place of the mistake of a group.

        It is found by a change that was tried, else by the construct of the named mistake, else the definition alone.
        """
        if not group.checks or group.units[0].is_unwritten:
            return None
        work = self.trial.work
        self.trial.work -= int((work - self.trial.done) * FOR_A_PART)
        sentences = {self.diagnoses.get(check.id, "") for check in group.checks} - {""}
        named = alignment.named(sentences, self.examiner.exercise.folder, self.excluded_mistake)
        guide = next(iter(named.values()), None)
        repairs, group_edits = self.repairs, self.repairs.group_edits
        repairs.begin()
        likely_edits = group_edits.unreturned(group)
        of_gradients = all(self.failures[check.id].way[1] == "gradients" for check in group.checks)
        if of_gradients:
            edit = repairs.full_repair(group, group_edits.uncutting(group)[:MAX_CUTS], sifts=False)
        else:
            edit = None
            likely_edits += group_edits.slips(group)
        likely_edits += group_edits.undoing(group, guide) if guide is not None else []
        if edit is None:
            edit = repairs.full_repair(group, [*likely_edits, *group_edits.solution_parts(group, guide)])
        if edit is None:
            edit = repairs.full_repair(group, group_edits.all_edits(group, guide)) or repairs.first_of_two
        if edit is not None:
            edit = repairs.of_a_scale(group, edit)
            return self.place_of_edit(edit, "repair")
        if repairs.doubtful_lines:
            return self.place_of(repairs.doubtful_lines, "several")
        self.trial.work = work
        edit = repairs.partial_repair(group, likely_edits)
        if edit is None and not self.trial.is_over:
            edit = repairs.partial_repair(group, group_edits.all_edits(group, guide))
        if edit is not None:
            return self.place_of_edit(edit, "part")
        line = guide.construct(self.tree, group.units) if guide is not None else None
        if line is not None:
            return self.place_of((line,), "construct")
        return in_definition(group, self.tree) if self.blame.solution is not None else None

    def place_of_edit(self, edit: Edit, evidence: str) -> Place | None:
        """The place of what an edit changes."""
        return self.place_of_marks(marks(edit, self.tree.lines), evidence, edit.kind)

    def place_of(self, lines: tuple[int, ...], evidence: str) -> Place | None:
        """The place that consists of these lines."""
        return self.place_of_marks(tuple(whole_line(line, self.tree.lines) for line in lines), evidence)

    def place_of_marks(self, found: tuple[Mark, ...], evidence: str, kind: str = "") -> Place | None:
        """The place that consists of these marks; see place.at_lines. Of lines without code, their function."""
        telling = tuple(mark for mark in found if mark[0] not in self.tree.silent)
        units = [unit for unit in self.tree.units if found[0][0] in unit.lines and not unit.is_unwritten]
        if telling:
            function = units[0].name if units else ""
            return at_lines(self.trial.submission.source, self.tree.lines, telling, evidence, function, kind)
        if not units:
            return None
        head = ((units[0].node.lineno, 0, 0),)
        return Place((), f"The mistake is in {units[0].name}.", "definition", head, units[0].name)
