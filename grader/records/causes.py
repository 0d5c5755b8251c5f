"""The causes of a result: failed checks grouped by the one mistake for which they fail, as every face shows them."""

import math
import re
from dataclasses import dataclass, replace

from grader.records.evidence import Evidence, Finding
from grader.records.results import AND, FAILED, FIX_FIRST, NOT_AGAIN, NOT_CHECKED, OR, CheckResult, ExerciseResult

SHAPE = re.compile(r"\(((?:\d+(?:, )?)+),?\)")  # a tensor's shape in the line that names the call
VALUES = "fresh_"  # how the names of hidden checks begin that compare values; all other hidden ones are special
FULL = 3  # causes that are shown in full, where there are more


@dataclass(frozen=True)
class Cause:
    """Checks that fail for one reason.

    number: counts from 1, in the order of the checks; example: the clearest of the checks; diagnosis and lines: as in
    CheckResult, from the first check that has them; finding: the example's, with that check's place.
    A file that could not be loaded has one cause, of no check.
    """

    number: int
    checks: tuple[CheckResult, ...]
    example: CheckResult
    diagnosis: str | None
    lines: tuple[int, ...]
    finding: Finding

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is wrong: the known mistake, else the error, else the promise that is not kept."""
        if self.diagnosis:
            first, *more = self.diagnosis.replace(AND, "\nAlso: ").replace(OR, "\nOr: ").split("\n")
            return (first if self.finding.tried else f"Probably: {first}", *more)
        return (self.finding.says or self._fault or f"Not yet true: {self.example.title}",)

    @property
    def is_known(self) -> bool:
        """Whether more is known than that values are wrong."""
        return bool(self.diagnosis or self.lines or self.finding.says)

    @property
    def evidence(self) -> Evidence:
        """The call and the values, with the error, or the promise, where the sentence does not say it."""
        says, note = self.finding.says, self.finding.evidence.note
        if self._fault and not (self.diagnosis or says):
            note = f"promise: {self.example.title}"
        return replace(self.finding.evidence, note="\n".join(filter(None, (self.diagnosis and says, note))))

    @property
    def _fault(self) -> str:
        """What is wrong with an answer besides its values, as a sentence: its dtype, say. "" for a long text."""
        evidence = self.finding.evidence
        note = evidence.note.removesuffix(".")
        if evidence.got or not evidence.call or not note or "\n" in note:
            return ""
        first = note.partition(" ")[0]
        is_name = not first.isalpha() or first in re.findall(r"\w+", evidence.call)
        return f"{note if is_name else note[0].upper() + note[1:]}."


def causes(result: ExerciseResult) -> tuple[Cause, ...]:
    """The causes of a result's failed checks.

    Checks have one cause where they have the same diagnosis, the same lines to look at, or the same exception. What
    only waits for another function belongs to that function's cause.
    """
    if result.finding is not None and not result.tried:
        nothing = CheckResult("", result.title, FAILED, 0.0, 0.0, result.message)
        return (Cause(1, (), nothing, None, (), result.finding),)
    groups: list[list[CheckResult]] = []
    for check in result.checks:
        if check.outcome == FAILED:
            same = [group for group in groups if any(_is_one(check, grouped) for grouped in group)]
            groups = [group for group in groups if group not in same]
            joined = [*(grouped for group in same for grouped in group), check]
            groups.append(sorted(joined, key=result.checks.index))
    groups = _without_waiting(result, groups)
    groups.sort(key=lambda group: (min(check.task or 0 for check in group), result.checks.index(group[0])))
    return tuple(_cause(number, tuple(group)) for number, group in enumerate(groups, 1))


def waiting(result: ExerciseResult, found: tuple[Cause, ...]) -> str:
    """The line on the tasks and checks that wait until the causes are fixed; "" where none does."""
    own = {cause.example.task for cause in found}
    own |= {min(check.task or 0 for check in cause.checks) for cause in found if cause.checks}
    left = [check for check in result.checks if check.outcome in (FAILED, NOT_CHECKED) and not check.is_unwritten]
    tasks = sorted({check.task for check in left if check.task} - own)
    unrun = [check for check in left if check.outcome == NOT_CHECKED and not check.points]
    in_part = [check for check in left if check.outcome == NOT_CHECKED and check.points]
    them, is_fixed = ("this", "it is fixed") if len(found) < 2 else ("these", "they are fixed")
    is_fixed = is_fixed if tasks else f"{them} {is_fixed.partition(' ')[2]}"
    parts = [f"{listed('Task', tasks)} {'waits' if len(tasks) == 1 else 'wait'} for {them}"] if tasks else []
    if unrun:
        parts.append(f"{count(unrun, 'more check')} will run once {is_fixed}")
    if in_part:
        got, most = sum(check.points for check in in_part), sum(check.max_points for check in in_part)
        parts.append(
            f"{count(in_part, 'check')} ran in part, for {got:g} of {most:g} {'point' if most == 1 else 'points'}"
        )
    return f"{'; '.join(parts)}." if parts else ""


def count(things: list[CheckResult] | tuple[CheckResult, ...], noun: str) -> str:
    """How many there are, in words: "1 check", "4 more checks"."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def listed(noun: str, numbers: list[int]) -> str:
    """Numbers as a person says them: "Task 2", "Tasks 2, 3 and 5"."""
    *others, last = map(str, numbers)
    return f"{noun}s {', '.join(others)} and {last}" if others else f"{noun} {last}"


def known_sentences(diagnosis: str | None) -> list[str]:
    """The sentences of known mistakes in a diagnosis, which may name two; of “one or the other” the first counts."""
    return (diagnosis or "").partition(OR)[0].split(AND)


def _without_waiting(result: ExerciseResult, groups: list[list[CheckResult]]) -> list[list[CheckResult]]:
    """The groups, in which those that only wait for another function are joined to that function's, or to the first."""
    waits = [group for group in groups if all(FIX_FIRST in (check.diagnosis or "") for check in group)]
    others = [group for group in groups if group not in waits]
    causing = [group for group in others if not all(check.is_unwritten for check in group)]
    if not causing:
        return groups
    for group in waits:
        function = (group[0].diagnosis or "").partition(FIX_FIRST)[2].removesuffix(" first.")
        target = next((one for one in causing if any(_calls(check, function) for check in one)), causing[0])
        target += group
    return [sorted(group, key=result.checks.index) for group in others]


def _calls(check: CheckResult, function: str) -> bool:
    finding = check.finding
    return finding is not None and finding.evidence.call.partition("(")[0].partition(".")[0] == function


def _is_one(check: CheckResult, other: CheckResult) -> bool:
    """Whether two failed checks have one cause."""
    has_same_lines = bool(check.lines) and check.lines == other.lines
    if check.diagnosis or other.diagnosis:
        named_apart = bool(check.diagnosis and other.diagnosis) and len(check.lines) > 1  # a line for each, likely
        return check.diagnosis == other.diagnosis or (has_same_lines and not named_apart)
    if check.lines or other.lines:
        return has_same_lines
    return check.message == other.message or _is_one_place(check.finding, other.finding)


def _is_one_place(first: Finding | None, second: Finding | None) -> bool:
    """Whether the same line raised an error, or the same definition is wrong in the same way."""
    if first is None or second is None or first.place is None or first.place != second.place:
        return False
    return first.place.column > 0 or first.says.partition(":")[0] == second.says.partition(":")[0]


def _cause(number: int, checks: tuple[CheckResult, ...]) -> Cause:
    placed = next((check for check in checks if check.lines), checks[0])
    place = placed.finding.place if placed.finding is not None else None
    blamed = place.function.partition(".")[0] if place is not None and placed.lines else ""
    direct = [check for check in checks if _calls(check, blamed)]
    example = min(direct or checks, key=_size)  # stable: the earliest of equals
    placed = example if example.lines or not placed.lines else placed
    finding, found = (one.finding or Finding(evidence=Evidence(note=one.message)) for one in (example, placed))
    is_tried = finding.tried or (found.tried and found.place is not None)
    finding = replace(finding, place=found.place, frame=found.frame, kind=found.kind, tried=is_tried)
    return Cause(number, checks, example, _diagnosis(checks), placed.lines, finding)


def _diagnosis(checks: tuple[CheckResult, ...]) -> str | None:
    """The first diagnosis. That another function is to be fixed first counts only where no check says more."""
    own = [check.diagnosis for check in checks if FIX_FIRST not in (check.diagnosis or "")]
    return next(filter(None, own), None) if own else checks[0].diagnosis


def _size(check: CheckResult) -> tuple[bool, bool, bool, bool, int]:
    """The key that sorts the clearest failed check first: called, public before hidden, shown values, small inputs.

    A special check that only meets the mistake accuses of something else by its title: the earliest of them counts.
    """
    was_called = NOT_AGAIN not in check.message
    if check.hidden and not check.id.startswith(VALUES):
        return not was_called, True, True, False, 0
    shapes = SHAPE.findall(check.message.partition("called")[2].partition("\n")[0])
    numbers = sum(math.prod(int(size) for size in shape.split(",") if size.strip()) for shape in shapes)
    return not was_called, check.hidden, False, "expected" not in check.message, numbers
