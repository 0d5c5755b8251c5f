"""A course for nbgrader: one assignment for each exercise, made from its lesson, solution and checks."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.classroom.course.settings import NAME as RULES
from grader.integrations import links
from grader.integrations.nbgrader import assignment, cell_ids, public

SETUP = "# Makes %documented known: it runs the documented checks of a task.\n%load_ext documented_checks"
DOCUMENTED = """# Task {task}: its documented checks. Hidden ones, on fresh inputs, follow when the notebook is graded.
%documented {task}"""
HIDDEN = "# {what}: hidden checks alone, run when the notebook is graded."
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CONFIG = '''"""nbgrader's settings for this course. Made once, then yours: it is not written again."""

import sys

sys.path.append({root!r})  # where the grader lies

c = get_config()  # noqa: F821

# Notebooks are graded by the sandboxed grader, where nbgrader would run them in a kernel.
c.Autograde.sanitize_preprocessors = [
    "grader.integrations.nbgrader.preprocessors.RestoreCells",  # before nbgrader looks at the metadata
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.integrations.nbgrader.preprocessors.GradeInSandbox",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.AssignLatePenalties.plugin_class = "grader.integrations.nbgrader.late.CourseLateness"
c.CourseLateness.rules = {rules!r}  # the rules of the course: make course OUTPUT=…
# c.GradeInSandbox.device = "cuda"  # "cpu" is the default
# c.GradeInSandbox.seed = 7  # of the fresh inputs; without it a new secret for each run

c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.CourseDirectory.course_id = {course_id!r}
{exchange}'''
EXCHANGE = "# c.Exchange.root = …  # the folder that students and instructors share: set it for the whole machine\n"


@dataclass(frozen=True)
class Group:
    """The checks of one task: their points, and whether some of them are public."""

    task: int
    points: float
    public: bool


def make(course: Path, exercises: tuple[catalog.Exercise, ...], exchange: Path | None = None) -> list[str]:
    """Write the source notebooks, and the settings where there are none. Returns a line about each.

    Raises WrongUse where a file cannot be written.
    """
    written = []
    try:
        for exercise in exercises:
            folder = course / "source" / exercise.folder
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook(exercise), folder / f"{exercise.folder}.ipynb")
            (folder / public.NAME).write_text(public.source(exercise), "utf-8")
            for path in beside(exercise.folder):
                shutil.copyfile(path, folder / path.name)
            written.append(f"source/{exercise.folder}")
        if exchange and not exchange.exists():
            exchange.mkdir(parents=True)
            exchange.chmod(0o777)  # nbgrader requires this: every student writes there
        settings = course / "nbgrader_config.py"
        if settings.exists():
            written.append("nbgrader_config.py stands as it was")
        else:
            settings.write_text(config(course, exchange), "utf-8")
            written.append("nbgrader_config.py")
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written: {error.strerror}. Another folder: COURSE=dir") from None
    return written


def config(course: Path, exchange: Path | None) -> str:
    """The text of nbgrader_config.py."""
    shared = f"c.Exchange.root = {str(exchange.resolve())!r}\n" if exchange else EXCHANGE
    rules = str(course.resolve() / RULES)
    return CONFIG.format(root=str(paths.ROOT), course_id=course.resolve().name, exchange=shared, rules=rules)


def beside(folder: str) -> list[Path]:
    """The files that a student gets beside the notebook, since its lesson or its checks name them."""
    named = [paths.PROMISES, paths.experiment(folder), *paths.diagrams(folder), paths.trained(folder)]
    return [path for path in named if path.exists()]


def lesson(folder: str) -> str:
    """The lesson with links to the files beside the notebook. A link to any other file becomes its name."""
    places = {path.resolve(): path.name for path in beside(folder)}
    path = paths.lesson(folder)
    return links.fitted(path.read_text("utf-8"), path, path.name, places)


def notebook(exercise: catalog.Exercise) -> nbformat.NotebookNode:
    """The instructor's notebook of one exercise."""
    groups = {group.task: group for group in check_groups(exercise)}
    solution = paths.solution(exercise.folder).read_text("utf-8")
    cells = []
    for number, cell in enumerate(assignment.cells(lesson(exercise.folder), solution, frozenset(groups))):
        if isinstance(cell, assignment.Markdown):
            cells.append(new_markdown_cell(cell.text, id=f"lesson-{number}"))
        elif isinstance(cell, assignment.Checks):
            cells.append(_checks(groups[cell.task]))
        elif cell.name:
            about = _nbgrader(cell_ids.solution(cell.name), solution=True)
            cells.append(new_code_cell(cell.text, id=cell_ids.solution(cell.name), metadata=about))
        else:
            about = _nbgrader(cell_ids.SETUP, locked=True)
            cells.append(new_code_cell(SETUP, id=cell_ids.SETUP, metadata=about))
            cells.append(new_code_cell(cell.text, id=f"given-{number}"))
    return new_notebook(cells=cells, metadata=METADATA)


def check_groups(exercise: catalog.Exercise) -> list[Group]:
    """The groups of checks of an exercise, one for each task; 0 stands for checks without a task."""
    from grader.judge.collection import collect

    by_task: dict[int, list[tuple[float, bool]]] = {}
    for check in collect(exercise):
        by_task.setdefault(check.task or 0, []).append((exercise.points[check.id], not check.hidden))
    return [
        Group(task, round(sum(points for points, _ in checks), 6), any(is_public for _, is_public in checks))
        for task, checks in sorted(by_task.items())
    ]


def _checks(group: Group) -> nbformat.NotebookNode:
    """The grade cell of a group of checks."""
    tasks = f"Task {group.task}" if group.task else "All tasks"
    source = DOCUMENTED.format(task=group.task) if group.public and group.task else HIDDEN.format(what=tasks)
    about = _nbgrader(cell_ids.checks(group.task), grade=True, locked=True, points=group.points)
    return new_code_cell(source, id=cell_ids.checks(group.task), metadata=about)


def _nbgrader(
    grade_id: str, grade: bool = False, solution: bool = False, locked: bool = False, **more: Any
) -> dict[str, Any]:
    """The metadata by which nbgrader knows a cell."""
    kind = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"nbgrader": {"schema_version": 3, "grade_id": grade_id, **kind, **more}}
