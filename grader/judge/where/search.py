"""Finds the lines of a mistake: first the definition that is to blame, then a change in it after which the checks pass.

Fault localisation by trying repairs: Weimer et al. 2009 (GenProg), Singh et al. 2013 (arXiv 1204.1751).
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.catalog.errors import InfrastructureError
from grader.judge.compare import SUGGESTION
from grader.judge.examiner import Examiner, Explained
from grader.judge.failure import Failure
from grader.judge.where import alignment
from grader.judge.where.blame import Blame, Group
from grader.judge.where.edits import MISSING, Edit, Tree
from grader.judge.where.expressions import ORDER_OF_PARTS, THE_SCALE
from grader.judge.where.repair import Repairs, UnitEdit
from grader.judge.where.statements import A_RETURN, AN_ORDER, NOT_KEPT
from grader.judge.where.trial import Trial
from grader.judge.where.underline import marks
from grader.records import containment, syntax
from grader.records.evidence import Finding, Mark, at, whole_line
from grader.records.results import CheckResult, ExerciseResult
from grader.records.sanitize import inert
from grader.records.source import gradient_cuts, outline
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError

WORK = 5_000  # for one submission: see Trial
FOR_A_PART = 1 / 6  # the share of the work that is kept for changes which let some of the checks pass
MAX_CUTS = 12  # what may cut a gradient, in one group of definitions
MAX_DEPTH = 60  # of a source's syntax tree; answers to exercises have some 15
TRIED = ("repair", "part")  # evidence that is a change which was tried, and helped
METHODS = {"__call__": "forward"}  # which method of a module a call runs
MAX_CODE = 60  # characters of a line that are shown
# What a verdict says beside the underlined code, by the kind of the edit that helped. Most kinds say nothing more.
KINDS = {
    MISSING: "something is missing here", A_RETURN: "this is what is returned", NOT_KEPT: "this result is not kept",
    AN_ORDER: "these lines are in another order", THE_SCALE: "the scale", "an operator": "this operator",
    "a comparison": "this comparison", "a condition": "this condition", "an index": "this index", "a size": "this size",
    "a sign": "this sign", "which value is used": "this value", "a transpose": "which dimensions change places",
    "the order of two operands": "the order of these two", ORDER_OF_PARTS: "the order of the parts",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1; () where the definition alone is known. sentence: what other tools
    read, a line of text for each place. evidence: how it was found: "repair", "part" (a change fixes some of the
    checks), "message" or "definition". marks: what is underlined; function: around the first line; kind: of the change
    that helped.
    """

    lines: tuple[int, ...]
    sentence: str
    evidence: str
    marks: tuple[Mark, ...] = ()
    function: str = ""
    kind: str = ""


def locate(
    examiner: Examiner, submission: Submission, result: ExerciseResult, is_cancelled: Callable[[], bool] = lambda: False
) -> ExerciseResult:
    """The result of the submission that the examiner examined last, with the places of its failed checks.

    is_cancelled: called between two candidates; once it is true, nothing more is tried. The search uses hidden checks,
    so where the settings reveal nothing, nothing is searched: a student's code decides which changes help.
    """
    if examiner.explained is None or not examiner.settings.reveal:
        return result
    arguments = examiner, submission, examiner.explained, WORK, "", is_cancelled
    no_places: dict[str, Place] = {}
    found_places = containment.optional("the search for the line", no_places, places, *arguments)
    checks = tuple(_placed(check, found_places.get(check.id), submission) for check in result.checks)
    return replace(result, checks=checks)


def _placed(check: CheckResult, place: Place | None, submission: Submission) -> CheckResult:
    """The check with its place. A definition alone is no better than the line that the failure itself names."""
    if place is None:
        return check
    finding = check.finding or Finding()
    if place.marks and (place.lines or finding.place is None or not finding.says):
        where, frame = at(submission.source, submission.filename, place.marks, place.function)
        is_tried = finding.tried or place.evidence in TRIED
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
    """
    explained = explained.begun()
    if not explained.failures or outline(submission.source)["depth"] > MAX_DEPTH:
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
        # What passes in a new worker failed for what an earlier check left behind, and would pass with any change.
        trial.load(trial.submission.source)
        failing = tuple(check for name in explained.failures if not trial.passes(check := checks[name]))
        passing = tuple(checks[name] for name in checks if name in explained.passed)
        self.blame = Blame(examiner, tree, trial, failing)
        examined = explained.passed | explained.failures.keys()
        unexamined = tuple(check for name, check in checks.items() if name not in examined)
        self.repairs = Repairs(self.blame, passing, unexamined)

    def run(self) -> dict[str, Place]:
        """The place of each failed check."""
        heads = self.places_of_heads()  # no change of a body gives a definition other parameters
        found_places = dict(heads)
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
            line = certain_line(failure) or failure.forbidden_line
            lines = (line,) if line else lines_of_cuts(failure, self.trial.submission.source)
            evidence = found_places[name].evidence if name in found_places else "definition"
            if lines and evidence == "definition":
                place = self.place_of_marks(tuple(whole_line(number, self.tree.lines) for number in lines), "message")
                found_places |= {name: place} if place is not None else {}
        return found_places | heads

    def places_of_heads(self) -> dict[str, Place]:
        """The places of the checks that cannot call a definition as the lesson does."""
        heads = {name: head_line(failure, self.tree) for name, failure in self.failures.items()}
        marked = {name: (whole_line(line, self.tree.lines),) for name, line in heads.items() if line}
        found = {name: self.place_of_marks(lines, "message") for name, lines in marked.items()}
        return {name: place for name, place in found.items() if place is not None}

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

        It is found by a change that was tried, else the definition alone.
        """
        if not group.checks or group.units[0].is_unwritten:
            return None
        work = self.trial.work
        self.trial.work -= int((work - self.trial.done) * FOR_A_PART)
        sentences = {self.diagnoses.get(check.id, "") for check in group.checks} - {""}
        named = alignment.named(sentences, self.examiner.exercise.folder, self.excluded_mistake)
        guide = next(iter(named.values()), None)
        repairs, group_edits = self.repairs, self.repairs.group_edits
        repairs.first_of_two = None
        of_gradients = all(self.failures[check.id].way[1] == "gradients" for check in group.checks)
        cuts = group_edits.uncutting(group)[:MAX_CUTS] if of_gradients else []
        likely_edits = group_edits.unreturned(group) + ([] if of_gradients else group_edits.slips(group))
        likely_edits += group_edits.undoing(group, guide) if guide is not None else []
        edit = (
            repairs.full_repair(group, cuts)
            or repairs.full_repair(group, [*likely_edits, *group_edits.solution_parts(group, guide)])
            or repairs.full_repair(group, group_edits.all_edits(group, guide))
            or repairs.first_of_two
        )
        if edit is not None:
            return self.place_of_edit(edit, "repair")
        self.trial.work = work
        edit = repairs.partial_repair(group, likely_edits)
        if edit is None and not self.trial.is_over:
            edit = repairs.partial_repair(group, group_edits.all_edits(group, guide))
        if edit is not None:
            return self.place_of_edit(edit, "part")
        return in_definition(group, self.tree) if self.blame.solution is not None else None

    def place_of_edit(self, edit: Edit, evidence: str) -> Place | None:
        """The place of what an edit changes."""
        return self.place_of_marks(marks(edit, self.tree.lines), evidence, edit.kind)

    def place_of_marks(self, found: tuple[Mark, ...], evidence: str, kind: str = "") -> Place | None:
        """The place that consists of these marks, None for lines without code. The sentence shows a single line."""
        telling = tuple(mark for mark in found if mark[0] not in self.tree.silent)
        if not telling:
            return None
        names = [unit.name for unit in self.tree.units if found[0][0] in unit.lines and not unit.is_unwritten]
        source, lines = self.trial.submission.source, tuple(line for line, _, _ in telling)
        if len(lines) == 1:
            code = "".join(self.tree.lines[lines[0] - 1 : lines[0]]).strip()
            code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
            location = f"{syntax.place(source, lines[0])}, `{code}`"
        elif syntax.is_notebook(source):
            location = "; ".join(syntax.place(source, line) for line in lines)
        else:
            location = f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
        return Place(lines, f"Look at {location}.", evidence, telling, names[0] if names else "", KINDS.get(kind, ""))


def in_definition(group: Group, tree: Tree) -> Place | None:
    """The place that is a definition alone: for a method its class, where another method might be wrong."""
    blamed, *helpers = group.units
    if len(group.units) > len(tree.units) // 2 + 1:
        owners = {unit.owner.name if unit.owner is not None else "" for unit in group.units}
        owner = owners.pop() if len(owners) == 1 else ""
        return Place((), f"The mistake is in the class {owner}.", "definition") if owner else None
    name = f"the class {blamed.owner.name}" if blamed.owner is not None and not group.is_sure else blamed.name
    blamed_class = None if group.is_sure or blamed.owner is None else blamed.owner
    helper_names = [unit.name for unit in helpers if blamed_class is None or unit.owner is not blamed_class]
    addition = f", or in what it calls: {', '.join(helper_names)}" if helper_names else ""
    head = ((blamed.node.lineno, 0, 0),) if blamed_class is None else ()
    return Place((), f"The mistake is in {name}{addition}.", "definition", head, blamed.name)


def both(first: Place, second: Place) -> Place:
    """The two places for which a check fails, as one."""
    if set(second.lines) <= set(first.lines):
        return first
    sentence = f"{first.sentence}\n{second.sentence}"
    return replace(first, lines=(*first.lines, *second.lines), sentence=sentence, marks=(*first.marks, *second.marks))


def certain_line(failure: Failure) -> int:
    """The line of a forbidden function, or of a name with a slip in it, for the mistake is nowhere else; or 0."""
    error = failure.error
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        return error.frame[0] if SUGGESTION.search(str(error.facts.get("message", ""))) else 0
    return failure.uses_at


def lines_of_cuts(failure: Failure, source: str) -> tuple[int, ...]:
    """The lines that may cut a gradient, where none came back; else ()."""
    if getattr(failure.error, "kind", "") != "gradient":
        return ()
    return tuple(sorted({line for definition, line, _ in gradient_cuts(source) if definition == failure.last_called}))


def head_line(failure: Failure, tree: Tree) -> int:
    """The line of the definition that cannot be called as the check calls it; 0 where the failure is another."""
    error = failure.error
    if not isinstance(error, LearnerError) or error.kind != "signature" or error.call is None:
        return 0
    owner, _, method = error.call.function.partition(".")
    names = (owner, f"{owner}.__init__") if not method else (f"{owner}.{METHODS.get(method, method)}",)
    return next((unit.node.lineno for unit in tree.units if unit.name in names), 0)
