"""What the learner reads of where a mistake is: lines with their code, or the definition alone. Never the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.failure import Failure
from grader.judge.mismatch import Mismatch
from grader.judge.where.blame import Group
from grader.judge.where.edits import Tree
from grader.records.places import is_notebook, place
from grader.records.sanitize import inert
from grader.sandbox.call_results import LearnerError

FORBIDDEN = "line "
METHODS = {"__call__": "forward"}  # which method of a module a call runs
MAX_CODE = 60  # characters of a line that are shown


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1, () where the definition alone is known; sentence: what the learner
    reads, a line of text for each place; how: "repair", "several", "values" (the solution's value there mends them),
    "part" (a change mends some of the checks), "message", "construct" or "definition".
    """

    lines: tuple[int, ...]
    sentence: str
    how: str


def at_lines(source: str, own: Sequence[str], lines: tuple[int, ...], how: str, kind: str = "") -> Place:
    """A place with its sentence: the lines, the code of a single one, and what kind of change helped.

    source: as it was submitted; own: its lines.
    """
    code = own[lines[0] - 1].strip() if lines[0] <= len(own) else ""
    code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
    where = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
    if len(lines) > 1 and is_notebook(source):
        where = "; ".join(place(source, line) for line in lines)
    return Place(lines, f"Look at {where}{f': {kind}' if kind else ''}.", how)


def in_definition(group: Group, tree: Tree) -> Place | None:
    """The definition alone: of a method its class, where another method might be wrong."""
    first, *helpers = group.units
    if len(group.units) > len(tree.units) // 2 + 1:
        owners = {unit.owner.name if unit.owner is not None else "" for unit in group.units}
        owner = owners.pop() if len(owners) == 1 else ""
        return Place((), f"The mistake is in the class {owner}.", "definition") if owner else None
    name = f"the class {first.owner.name}" if first.owner is not None and not group.is_sure else first.name
    within = None if group.is_sure or first.owner is None else first.owner
    outside = [unit.name for unit in helpers if within is None or unit.owner is not within]
    more = f", or in what it calls: {', '.join(outside)}" if outside else ""
    return Place((), f"The mistake is in {name}{more}.", "definition")


def both(one: Place, other: Place) -> Place:
    """Two places that a check fails for."""
    if set(other.lines) <= set(one.lines):
        return one
    return Place((*one.lines, *other.lines), f"{one.sentence}\n{other.sentence}", one.how)


def told_line(failure: Failure) -> int:
    """The line of a forbidden use, which the failure itself tells; 0 where it tells none.

    Where an exception is raised is no line to tell: the mistake is often made before.
    """
    error = failure.error
    if isinstance(error, Mismatch) and error.summary.startswith(FORBIDDEN):
        number = error.summary.removeprefix(FORBIDDEN).partition(" ")[0]
        return int(number) if number.isdigit() else 0
    return 0


def head_line(failure: Failure, tree: Tree) -> int:
    """The line of the definition that cannot be called as the check calls it; 0 where that is not what failed."""
    error = failure.error
    if not isinstance(error, LearnerError) or error.kind != "signature" or error.call is None:
        return 0
    owner, _, method = error.call.function.partition(".")
    names = (owner, f"{owner}.__init__") if not method else (f"{owner}.{METHODS.get(method, method)}",)
    return next((unit.node.lineno for unit in tree.units if unit.name in names), 0)


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"
