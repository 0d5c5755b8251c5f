"""A submitted notebook against the gradebook's record of it: what is whose, whatever a student did to the cells.

The gradebook alone says which cells are graded, what they hold and what they are worth. Nothing of the
metadata in a submission is believed, except which cell claims to be which.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import nbformat

from grader import submission
from grader.submission import Submission

OUR_MAGIC = re.compile(r"\s*%(documented\b.*|load_ext\s+documented_checks)\s*")


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
        return self.grade and not self.solution and self.kind == "code"


def released(gradebook, notebook: str, assignment: str) -> tuple[Cell, ...]:
    """The cells of a notebook as an nbgrader.api.Gradebook knows them."""
    record = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in [*record.grade_cells, *record.task_cells]}
    grades, tasks = ({cell.name for cell in found} for found in (record.grade_cells, record.task_cells))
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
    """Make the released cells of a submission what they were; everything else stays as plain cells.

    A locked cell is first sought by its text, so that a copy, or a name put on another cell, does not
    take its place. What is missing comes back after the cell that it followed.
    """
    submitted = [cell for cell in notebook.get("cells", ()) if isinstance(cell, dict)]
    places = _places(submitted, cells)
    known = {place: cell for cell, place in places.items()}
    made = [_canonical(cell, known.get(place)) for place, cell in enumerate(submitted)]
    position = {cell.id: made[place] for cell, place in places.items()}
    for number, cell in enumerate(cells):
        if cell.id in position or not cell.locked:
            continue
        before = next((position[c.id] for c in reversed(cells[:number]) if c.id in position), None)
        at = next((i + 1 for i, other in enumerate(made) if other is before), len(made))
        position[cell.id] = _canonical({}, cell)
        made.insert(at, position[cell.id])
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    notebook["cells"] = made
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 5
    notebook["metadata"] = nbformat.from_dict({"language_info": {"name": "python"}})


def learner_code(notebook: nbformat.NotebookNode, cells: Sequence[Cell], shown: str) -> Submission:
    """What the learner wrote: the code cells of a restored notebook, without the locked ones.

    Raises submission.BadSubmission where it cannot be graded as it is.
    """
    locked = {cell.id for cell in cells if cell.locked}
    kept = [
        {"cell_type": "code", "source": "\n".join(map(_without_our_magic, cell["source"].split("\n")))}
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and claimed(cell) not in locked
    ]
    data = json.dumps({"cells": kept}).encode()
    if len(data) > submission.MAX_NOTEBOOK:
        raise submission.BadSubmission(f"{shown} holds more code than can be graded.")
    return submission.decode(data, shown, notebook=True)


def claimed(cell: Mapping) -> str | None:
    """The id that a cell gives itself."""
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None


def _places(submitted: list, cells: Sequence[Cell]) -> dict[Cell, int]:
    """Where each released cell stands in the submission: by its own text first, then by its name, the last one."""
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


def _canonical(submitted: Mapping, cell: Cell | None) -> nbformat.NotebookNode:
    """A cell made anew: the submission's text, the gradebook's everything else."""
    text = submitted.get("source")
    text = text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""  # half a character cannot be saved
    kind = cell.kind if cell else submitted.get("cell_type")
    if cell and cell.locked:
        text = cell.source
    made = {"cell_type": kind if kind in ("code", "markdown") else "raw", "source": text, "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    elif kind == "markdown" and isinstance(submitted.get("attachments"), dict):
        made["attachments"] = submitted["attachments"]
    if cell:
        about = {"schema_version": 3, "grade_id": cell.id, "checksum": cell.checksum, "cell_type": cell.kind}
        about |= {"grade": cell.grade, "solution": cell.solution, "locked": cell.locked, "task": cell.task}
        if cell.grade or cell.task:
            about["points"] = cell.points
        made["metadata"] = {"nbgrader": about, "deletable": False, "editable": not cell.locked}
    return nbformat.from_dict(made)


def _without_our_magic(line: str) -> str:
    return "" if OUR_MAGIC.fullmatch(line) else line
