"""A course for nbgrader: one assignment for each exercise, made from its lesson, solution and checks."""

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader import catalog, paths
from grader.errors import WrongUse
from grader.nbgrader import lesson, names, public

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
    "grader.nbgrader.engine.RestoreCells",  # before nbgrader looks at what a student made of the metadata
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader.engine.GradeInSandbox",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# c.GradeInSandbox.device = "cuda"  # "cpu" is the default
# c.GradeInSandbox.seed = 7  # of the fresh inputs; without it a new one for each run

c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.CourseDirectory.course_id = {course_id!r}
{exchange}'''
EXCHANGE = "# c.Exchange.root = …  # the folder that students and instructors share: set it for the whole machine\n"


@dataclass(frozen=True)
class Group:
    """The checks of one task: what they are worth, and whether some of them are public."""

    task: int
    points: float
    public: bool


def make(course: Path, exercises: tuple[catalog.Exercise, ...], exchange: Path | None = None) -> list[str]:
    """Write the course; source notebooks anew, the settings only where there are none. Returns what was done.

    Raises WrongUse where a file cannot be written.
    """
    done = []
    try:
        for exercise in exercises:
            folder = course / "source" / exercise.folder
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook(exercise), folder / f"{exercise.folder}.ipynb")
            (folder / public.NAME).write_text(public.source(exercise), "utf-8")
            done.append(f"source/{exercise.folder}")
        if exchange and not exchange.exists():
            exchange.mkdir(parents=True)
            exchange.chmod(0o777)  # nbgrader asks for that: every student writes there
        settings = course / "nbgrader_config.py"
        if settings.exists():
            done.append("nbgrader_config.py stands as it was")
        else:
            settings.write_text(config(course, exchange), "utf-8")
            done.append("nbgrader_config.py")
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written: {error.strerror}. Another folder: COURSE=dir") from None
    return done


def config(course: Path, exchange: Path | None) -> str:
    """The text of nbgrader_config.py."""
    shared = f"c.Exchange.root = {str(exchange.resolve())!r}\n" if exchange else EXCHANGE
    return CONFIG.format(root=str(paths.ROOT), course_id=course.resolve().name, exchange=shared)


def notebook(exercise: catalog.Exercise) -> nbformat.NotebookNode:
    """The instructor's notebook of one exercise."""
    groups = {group.task: group for group in check_groups(exercise)}
    readme = paths.lesson(exercise.folder).read_text("utf-8")
    solution = paths.solution(exercise.folder).read_text("utf-8")
    cells = []
    for number, cell in enumerate(lesson.cells(readme, solution, frozenset(groups))):
        if isinstance(cell, lesson.Markdown):
            cells.append(new_markdown_cell(cell.text, id=f"lesson-{number}"))
        elif isinstance(cell, lesson.Checks):
            cells.append(_checks(groups[cell.task]))
        elif cell.name:
            about = _nbgrader(names.solution(cell.name), solution=True)
            cells.append(new_code_cell(cell.text, id=names.solution(cell.name), metadata=about))
        else:
            about = _nbgrader(names.SETUP, locked=True)
            cells.append(new_code_cell(SETUP, id=names.SETUP, metadata=about))
            cells.append(new_code_cell(cell.text, id=f"given-{number}"))
    return new_notebook(cells=cells, metadata=METADATA)


def check_groups(exercise: catalog.Exercise) -> list[Group]:
    """The checks of an exercise by task. Collects them with pytest, which knows their marks."""
    from grader.session import check_id, is_hidden, run_session, task_of

    found: dict[int, list[tuple[float, bool]]] = {}

    def work(session) -> None:
        for item in session.items:
            points = exercise.points[check_id(item)]
            found.setdefault(task_of(item)[0] or 0, []).append((points, not is_hidden(item)))

    run_session(exercise, 0, work)
    return [
        Group(task, round(sum(points for points, _ in checks), 6), any(is_public for _, is_public in checks))
        for task, checks in sorted(found.items())
    ]


def _checks(group: Group) -> nbformat.NotebookNode:
    what = f"Task {group.task}" if group.task else "All tasks"
    source = DOCUMENTED.format(task=group.task) if group.public and group.task else HIDDEN.format(what=what)
    about = _nbgrader(names.checks(group.task), grade=True, locked=True, points=group.points)
    return new_code_cell(source, id=names.checks(group.task), metadata=about)


def _nbgrader(grade_id: str, grade=False, solution=False, locked=False, **more) -> dict:
    kind = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"nbgrader": {"schema_version": 3, "grade_id": grade_id, **kind, **more}}
