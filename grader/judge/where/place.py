"""The sentences that say where a mistake is: lines with their code, or the definition alone. Never the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.failure import Failure
from grader.judge.mismatch import FORBIDDEN, Mismatch
from grader.judge.where.blame import Group
from grader.judge.where.edits import Tree
from grader.records.places import is_notebook, place
from grader.records.sanitize import inert
from grader.sandbox.call_results import LearnerError

METHODS = {"__call__": "forward"}  # which method of a module a call runs
MAX_CODE = 60  # characters of a line that are shown


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1; () where the definition alone is known. sentence: what the learner
    reads, a line of text for each place. evidence: how it was found: "repair", "several" (several changes together),
    "values" (the solution's value there mends the checks), "part" (a change mends some of the checks), "message",
    "construct" or "definition".
    """

    lines: tuple[int, ...]
    sentence: str
    evidence: str


def at_lines(source: str, source_lines: Sequence[str], lines: tuple[int, ...], evidence: str, kind: str = "") -> Place:
    """A place of lines. The sentence names them, the code of a single one, and the kind of change that helped.

    source: as it was submitted; source_lines: its lines.
    """
    code = source_lines[lines[0] - 1].strip() if lines[0] <= len(source_lines) else ""
    code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
    location = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
    if len(lines) > 1 and is_notebook(source):
        location = "; ".join(place(source, line) for line in lines)
    return Place(lines, f"Look at {location}{f': {kind}' if kind else ''}.", evidence)


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
    return Place((), f"The mistake is in {name}{addition}.", "definition")


def both(first: Place, second: Place) -> Place:
    """The two places for which a check fails, as one."""
    if set(second.lines) <= set(first.lines):
        return first
    return Place((*first.lines, *second.lines), f"{first.sentence}\n{second.sentence}", first.evidence)


def forbidden_line(failure: Failure) -> int:
    """The line of a forbidden use, which the failure itself names; 0 where it names none.

    The line that raises an exception does not count: the mistake is often on an earlier one.
    """
    error = failure.error
    if isinstance(error, Mismatch) and error.summary.startswith(FORBIDDEN):
        number = error.summary.removeprefix(FORBIDDEN).partition(" ")[0]
        return int(number) if number.isdigit() else 0
    return 0


def head_line(failure: Failure, tree: Tree) -> int:
    """The line of the definition that cannot be called as the check calls it; 0 where the failure is another."""
    error = failure.error
    if not isinstance(error, LearnerError) or error.kind != "signature" or error.call is None:
        return 0
    owner, _, method = error.call.function.partition(".")
    names = (owner, f"{owner}.__init__") if not method else (f"{owner}.{METHODS.get(method, method)}",)
    return next((unit.node.lineno for unit in tree.units if unit.name in names), 0)


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"
