"""A course for nbgrader: one assignment for each exercise, made from its lesson, solution and checks.

It is assembled from the grader's own sources, so that a notebook judges by the same rules. It holds nothing hidden:
test_documented.py is the only file of checks that is read.
"""

import ast
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader import catalog
from grader.catalog import documented, paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.desk.lesson import fit_links, for_page
from grader.integrations.nbgrader import assignment, cells

PUBLIC_NAME = "documented_checks.py"
HEADER = '''"""The documented checks of exercise {folder}: made from the grader's sources, not to be edited.

In a notebook beside this file: %load_ext documented_checks, then %documented 1 for the checks of task 1.
Hidden checks, on fresh inputs, are added when the notebook is graded.
"""'''
# The modules from which definitions are copied, each after those that it needs.
OURS = (
    "worker/codec",
    "catalog/documented",
    "judge/words",
    "judge/compare",
    "judge/renaming",
    "judge/promises",
    "sentence",
)
RUNNER = "integrations/nbgrader/in_notebook"
SETUP = "# Makes %documented known: it runs the documented checks of a task.\n%load_ext documented_checks"
DOCUMENTED = """# Task {task}: its documented checks. Hidden ones, on fresh inputs, follow when the notebook is graded.
%documented {task}"""
HIDDEN = "# {what}: hidden checks alone, run when the notebook is graded."
FRAME = {"## Tasks": "Put the calls below into cells of your own: the comments show the lesson's values."}
COMMAND = re.compile(r"`make [a-z]+[^`]*`")
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
# c.GradeInSandbox.device = "cuda"  # "cpu" is the default
# c.GradeInSandbox.seed = 7  # of the fresh inputs; without it a new secret for each run

c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.CourseDirectory.course_id = {course_id!r}
{exchange}'''
EXCHANGE = "# c.Exchange.root = …  # the folder that students and instructors share: set it for the whole machine\n"


@dataclass(frozen=True)
class _Definition:
    """One top-level statement that defines names, as text, and the names that it uses."""

    path: Path
    names: frozenset[str]
    text: str
    uses: frozenset[str]


def public_source(exercise: catalog.Exercise) -> str:
    """The text of one exercise's documented_checks.py.

    Raises InfrastructureError where a check and the grader define the same name.
    """
    numbers: dict[str, dict[str, str]] = {}
    for number in documented.numbers(exercise.folder):
        numbers.setdefault(f"test_{number.check}", {})[number.id] = number.printed
    runner, checks = paths.module(f"{RUNNER}.py"), paths.documented_checks(exercise.folder)
    offered = [definition for name in OURS for definition in _definitions(paths.module(f"{name}.py"))]
    own_definitions = [*_definitions(runner), *_definitions(checks)]
    copied = _needed(offered, own_definitions)
    owner: dict[str, Path] = {}
    for definition in [*copied, *own_definitions]:
        for name in definition.names:
            if owner.setdefault(name, definition.path) != definition.path:
                both = f"{paths.shown(owner[name])} and {paths.shown(definition.path)}"
                raise InfrastructureError(f"{name} is defined in {both}: rename the one of the check")
    files = [*dict.fromkeys(definition.path for definition in copied), runner, checks]
    used = frozenset().union(*(definition.uses for definition in [*copied, *own_definitions]))
    imports = sorted({line for path in files for line in _imports(path, used)})
    text_parts = [HEADER.format(folder=exercise.folder), "\n".join(imports)]
    # The runner's classes come first.
    ordered = sorted([*copied, *own_definitions], key=lambda d: (d.path == checks, d.path != runner))
    text_parts += [definition.text for definition in ordered if definition.path != checks]
    text_parts += [f"NUMBERS = {numbers!r}", *(definition.text for definition in ordered if definition.path == checks)]
    return "\n\n\n".join(text_parts) + "\n"


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
            (folder / PUBLIC_NAME).write_text(public_source(exercise), "utf-8")
            for path in beside(exercise.folder):
                shutil.copyfile(path, folder / path.name)
            written.append(f"source/{exercise.folder}")
        if exchange and not exchange.exists():
            exchange.mkdir(parents=True)
            exchange.chmod(0o777)  # nbgrader requires this: every student writes there
        settings = course / "nbgrader_config.py"
        if settings.exists():
            written.append("nbgrader_config.py is left as it was")
        else:
            settings.write_text(config(course, exchange), "utf-8")
            written.append("nbgrader_config.py")
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written: {error.strerror}. Another folder: COURSE=dir") from None
    return written


def config(course: Path, exchange: Path | None) -> str:
    """The text of nbgrader_config.py."""
    shared = f"c.Exchange.root = {str(exchange.resolve())!r}\n" if exchange else EXCHANGE
    return CONFIG.format(root=str(paths.ROOT), course_id=course.resolve().name, exchange=shared)


def beside(folder: str) -> list[Path]:
    """The files that a student gets beside the notebook, since its lesson or its checks name them."""
    named = [paths.PROMISES, paths.experiment(folder), *paths.diagrams(folder), paths.trained(folder)]
    named += paths.model_files(folder)
    return [path for path in named if path.exists()]


def lesson(folder: str) -> str:
    """The lesson for a student who has the notebook and the files beside it, but neither make nor this project.

    A link to any other file becomes its name.
    """
    places = {path.resolve(): path.name for path in beside(folder)}
    path = paths.lesson(folder)
    text = for_page(path.read_text("utf-8"), sentences=FRAME).replace("`make check`", "*Validate*")
    return fit_links(COMMAND.sub(r"\g<0> (in a clone of the project)", text), path, path.name, places)


def notebook(exercise: catalog.Exercise) -> nbformat.NotebookNode:
    """The instructor's notebook of one exercise."""
    groups = {group.task: group for group in check_groups(exercise)}
    solution = paths.solution(exercise.folder).read_text("utf-8")
    written = []
    for number, cell in enumerate(assignment.cells(lesson(exercise.folder), solution, frozenset(groups))):
        if isinstance(cell, assignment.Markdown):
            written.append(new_markdown_cell(cell.text, id=f"lesson-{number}"))
        elif isinstance(cell, assignment.Checks):
            written.append(_checks(groups[cell.task]))
        elif cell.name:
            about = _nbgrader(cells.solution_id(cell.name), solution=True)
            written.append(new_code_cell(cell.text, id=cells.solution_id(cell.name), metadata=about))
        else:
            about = _nbgrader(cells.SETUP_ID, locked=True)
            written.append(new_code_cell(SETUP, id=cells.SETUP_ID, metadata=about))
            written.append(new_code_cell(cell.text, id=f"given-{number}"))
    return new_notebook(cells=written, metadata=METADATA)


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


def _needed(offered: list[_Definition], own_definitions: list[_Definition]) -> list[_Definition]:
    """The offered definitions that these use, directly or not. Names that the checks define have priority."""
    defined = {
        name
        for definition in own_definitions
        if definition.path.name == paths.DOCUMENTED_CHECKS
        for name in definition.names
    }
    needed = {name for definition in own_definitions for name in definition.uses} - defined
    chosen: set[int] = set()
    while True:
        newly_needed = {i for i, definition in enumerate(offered) if i not in chosen and definition.names & needed}
        if not newly_needed:
            return [offered[index] for index in sorted(chosen)]
        chosen |= newly_needed
        needed |= {name for index in newly_needed for name in offered[index].uses}


def _definitions(path: Path) -> list[_Definition]:
    """All definitions at the top level of a module."""
    text = path.read_text("utf-8")
    lines, definitions = text.splitlines(), []
    for node in ast.parse(text).body:
        names = _defined(node)
        if names:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            uses = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            segment = "\n".join(lines[first - 1 : node.end_lineno])
            definitions.append(_Definition(path, frozenset(names), segment, frozenset(uses)))
    return definitions


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for target in targets if target is not None for part in ast.walk(target)]  # a, b = 1, 2 too
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _imports(path: Path, used: frozenset[str]) -> list[str]:
    """The imports of a module from outside the grader, as far as they are used."""
    lines = []
    for node in ast.parse(path.read_text("utf-8")).body:
        module = getattr(node, "module", None) or ""
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", None):
            continue
        if module.partition(".")[0] == "grader":
            continue
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) in used:
                statement = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(module, [alias], 0)
                lines.append(ast.unparse(statement))
    return lines


def _checks(group: Group) -> nbformat.NotebookNode:
    """The grade cell of a group of checks."""
    tasks = f"Task {group.task}" if group.task else "All tasks"
    source = DOCUMENTED.format(task=group.task) if group.public and group.task else HIDDEN.format(what=tasks)
    about = _nbgrader(cells.checks_id(group.task), grade=True, locked=True, points=group.points)
    return new_code_cell(source, id=cells.checks_id(group.task), metadata=about)


def _nbgrader(
    grade_id: str, grade: bool = False, solution: bool = False, locked: bool = False, **more: Any
) -> dict[str, Any]:
    """The metadata by which nbgrader knows a cell."""
    kind = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"nbgrader": {"schema_version": 3, "grade_id": grade_id, **kind, **more}}
