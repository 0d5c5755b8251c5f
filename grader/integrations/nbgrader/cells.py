"""Restores the released cells of a submitted notebook, reads the learner's code, and writes a result as their outputs.

The gradebook alone decides which cells are graded, what they hold and how many points they have. Of the metadata in a
submission only the claimed ids of the cells are used.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_output

from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.records import safe_files, submission
from grader.records.causes import Cause, causes
from grader.records.limited import limited
from grader.records.results import ERROR, PASSED, CheckResult, ExerciseResult
from grader.records.submission import Submission
from grader.reports.templating import render
from grader.reports.terminal import explain

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

SETUP_ID = "documented_checks"  # the cell that makes %documented known
MAX_OUTPUT = 2_000  # characters of what the code printed


def checks_id(task: int) -> str:
    """The id of the grade cell with a task's checks; 0 stands for checks that belong to no task."""
    return f"task_{task}" if task else "whole"


def task_id(grade_id: str) -> int | None:
    """The task whose checks this grade cell holds; None where the course did not make the cell."""
    if grade_id == "whole":
        return 0
    number = grade_id.removeprefix("task_")
    return int(number) if number != grade_id and number.isdecimal() and number.isascii() else None


def solution_id(definition: str) -> str:
    """The id of the cell in which the learner writes this definition."""
    return f"write_{definition}"


@dataclass(frozen=True)
class Cell:
    """A cell as the instructor released it."""

    id: str
    kind: str  # "code" or "markdown"
    source: str
    checksum: str | None
    locked: bool
    grade: bool = False
    solution: bool = False
    task: bool = False
    points: float = 0.0

    @property
    def is_autograded(self) -> bool:
        """Whether the grader, not a person, grades this cell."""
        return self.grade and not self.solution and self.kind == "code"


def released(gradebook: "Gradebook", notebook: str, assignment: str) -> tuple[Cell, ...]:
    """The cells of a notebook as the gradebook holds them. Raises nbgrader's MissingEntry."""
    record = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in [*record.grade_cells, *record.task_cells]}
    grades, tasks = ({cell.name for cell in cells} for cells in (record.grade_cells, record.task_cells))
    solutions = {cell.name for cell in record.solution_cells}
    return tuple(
        Cell(
            id=cell.name,
            kind=cell.cell_type,
            source=cell.source,
            checksum=cell.checksum,
            locked=cell.locked,
            grade=cell.name in grades,
            solution=cell.name in solutions,
            task=cell.name in tasks,
            points=float(points.get(cell.name, 0.0)),
        )
        for cell in record.source_cells
    )


def restore(notebook: nbformat.NotebookNode, cells: Sequence[Cell]) -> None:
    """Restore the released cells of a submission in place; all other cells become plain cells.

    A locked cell is first searched by its text, so that neither a copy nor an id on another cell can replace it. A
    missing cell is inserted after the cell that it followed.
    """
    submitted = [cell for cell in notebook.get("cells", ()) if isinstance(cell, dict)]
    places = _places(submitted, cells)
    released_at = {place: cell for cell, place in places.items()}
    restored = [_canonical(cell, released_at.get(place)) for place, cell in enumerate(submitted)]
    position = {cell.id: restored[place] for cell, place in places.items()}
    for number, cell in enumerate(cells):
        if cell.id in position or not cell.locked:
            continue
        before = next((position[c.id] for c in reversed(cells[:number]) if c.id in position), None)
        at = next((i + 1 for i, other in enumerate(restored) if other is before), len(restored))
        position[cell.id] = _canonical({}, cell)
        restored.insert(at, position[cell.id])
    for number, restored_cell in enumerate(restored):
        restored_cell["id"] = f"cell-{number}"
    notebook["cells"] = restored
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 5
    notebook["metadata"] = nbformat.from_dict({"language_info": {"name": "python"}})


def learner_code(notebook: nbformat.NotebookNode, cells: Sequence[Cell], name: str) -> Submission:
    """The learner's code: the code cells of a restored notebook. The locked ones count, but are empty.

    name: of the file.

    Raises BadSubmission for a notebook without code, or with too much of it to be graded.
    """
    locked = {cell.id for cell in cells if cell.locked}
    texts = ["" if claimed(cell) in locked else cell["source"] for cell in notebook["cells"]]
    pairs = zip(notebook["cells"], texts, strict=True)
    data = json.dumps({"cells": [{"cell_type": cell["cell_type"], "source": text} for cell, text in pairs]}).encode()
    if len(data) > safe_files.MAX_NOTEBOOK:
        raise BadSubmission(f"{name} holds more code than can be graded.")
    return submission.decode(data, name, notebook=True)


def learners_notebook(data: bytes, cells: Sequence[Cell], name: str) -> Submission:
    """The learner's code in a submitted notebook that is not restored yet. name: of the file.

    Raises BadSubmission where the data is not a notebook or holds too much code.
    """
    source, notes = _learners_notebook(data, tuple(map(astuple, cells)), name)
    return Submission(source, name, tuple(notes))


@limited
def _learners_notebook(data: bytes, cells: tuple[tuple[Any, ...], ...], name: str) -> tuple[str, tuple[str, ...]]:
    released_cells = tuple(Cell(*facts) for facts in cells)
    try:
        notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
        restore(notebook, released_cells)
    except Exception:  # nbformat raises many kinds
        raise BadSubmission(f"{name} is not a notebook. Save it again from Jupyter.") from None
    code = learner_code(notebook, released_cells, name)
    return code.source, code.notes


def claimed(cell: Mapping[str, Any]) -> str | None:
    """The id that the metadata of a cell claims, or None."""
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None


def score(result: ExerciseResult, cell: Cell) -> float:
    """The points of a grade cell: the share of its checks that passed, of the points that it has in the gradebook.

    Raises InfrastructureError where the cell holds no checks of this exercise.
    """
    if result.status == ERROR:
        return 0.0
    checks = checks_of(result, cell)
    max_points = sum(check.max_points for check in checks)
    if all(check.outcome == PASSED for check in checks):
        return cell.points
    return round(min(max(sum(check.points for check in checks) / max_points, 0.0), 1.0) * cell.points, 6)


def output(result: ExerciseResult, cell: Cell, first: bool) -> nbformat.NotebookNode:
    """The output of a grade cell. nbgrader reads the score from its plain text, and people see the HTML.

    first: it is the first grade cell, whose output also has the messages about the whole notebook.
    """
    data = {"text/plain": repr(score(result, cell)), "text/html": html(result, cell, first)}
    return new_output("execute_result", data=data, execution_count=None)


def html(result: ExerciseResult, cell: Cell, first: bool) -> str:
    """The feedback below one grade cell."""
    printed = result.output if first and result.output.strip() else ""
    return render(
        "integrations/nbgrader/templates/cell.html",
        result=result,
        cell=cell,
        first=first,
        score=score(result, cell),
        checks=_checks(result, [] if result.status == ERROR else checks_of(result, cell)),
        printed=printed[:MAX_OUTPUT] + (" …" if len(printed) > MAX_OUTPUT else ""),
    )


def checks_of(result: ExerciseResult, cell: Cell) -> list[CheckResult]:
    """The checks that a grade cell stands for. Raises InfrastructureError where there are none."""
    task = task_id(cell.id)
    checks = [check for check in result.checks if (check.task or 0) == task]
    if task is None or (not checks and result.status != ERROR):
        raise InfrastructureError(
            f"the grade cell {cell.id} holds no checks of {result.exercise}. "
            "Make the source notebook again: make nbgrader COURSE=dir, then nbgrader generate_assignment"
        )
    return checks


def _places(submitted: list[dict[str, Any]], cells: Sequence[Cell]) -> dict[Cell, int]:
    """The place of each released cell in the submission: found by its text, otherwise the last with its id."""
    places: dict[Cell, int] = {}
    for by_text in (True, False):
        for cell in cells:
            if cell in places or (by_text and not cell.locked):
                continue
            for place, other in enumerate(submitted):
                named = claimed(other) == cell.id
                fits = other.get("source") == cell.source if by_text else named
                if fits and place not in places.values() and (named or cell not in places or not by_text):
                    places[cell] = place
    return places


def _canonical(submitted: Mapping[str, Any], cell: Cell | None) -> nbformat.NotebookNode:
    """A new cell: the text of the submission, and everything else as in the gradebook."""
    text = submitted.get("source")
    text = text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""  # a lone surrogate cannot be saved
    kind = cell.kind if cell else submitted.get("cell_type")
    if cell and cell.locked:
        text = cell.source
    fields: dict[str, Any] = {
        "cell_type": kind if kind in ("code", "markdown") else "raw",
        "source": text,
        "metadata": {},
    }
    if kind == "code":
        fields |= {"execution_count": None, "outputs": []}
    elif kind == "markdown" and isinstance(submitted.get("attachments"), dict):
        fields["attachments"] = submitted["attachments"]
    if cell:
        about = {"schema_version": 3, "grade_id": cell.id, "checksum": cell.checksum, "cell_type": cell.kind}
        about |= {"grade": cell.grade, "solution": cell.solution, "locked": cell.locked, "task": cell.task}
        if cell.grade or cell.task:
            about["points"] = cell.points
        fields["metadata"] = {"nbgrader": about, "deletable": False, "editable": not cell.locked}
    return nbformat.from_dict(fields)


def _in_notebook(cause: Cause) -> Cause:
    """The cause, whose place names the cell only: it is read in its notebook."""
    place = cause.finding.place
    if place is None or not place.cell:
        return cause
    return replace(cause, finding=replace(cause.finding, place=replace(place, file="")))


def _checks(result: ExerciseResult, checks: list[CheckResult]) -> Iterator[tuple[CheckResult, str]]:
    """Each check with its cause in words, or "" where an earlier check of the cell has the same one."""
    found, shown_before = [_in_notebook(cause) for cause in causes(result)], set[str]()
    for check in checks:
        words = "" if check.outcome == PASSED else explain(check, found)
        yield check, "" if words in shown_before else words
        shown_before.add(words)
