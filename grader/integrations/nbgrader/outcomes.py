"""A result as the outputs of a notebook's grade cells: the learner's feedback and the score for nbgrader."""

from collections.abc import Iterator

import nbformat
from nbformat.v4 import new_output

from grader.catalog.errors import InfrastructureError
from grader.integrations.nbgrader import cell_ids
from grader.integrations.nbgrader.cells import Cell
from grader.records.results import ERROR, FAILED, PASSED, CheckResult, ExerciseResult
from grader.reports.templating import render

MAX_OUTPUT = 2_000  # characters of what the code printed


def score(result: ExerciseResult, cell: Cell) -> float:
    """The points of a grade cell: the share of its checks that passed, of the points that it has in the gradebook.

    Points that a person gave for the exercise are shared by all cells. Raises InfrastructureError where the cell holds
    no checks of this exercise.
    """
    if result.given is not None:
        return round(result.given / (result.max_points or 1.0) * cell.points, 6)
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
        checks=_checks([] if result.status == ERROR else checks_of(result, cell)),
        printed=printed[:MAX_OUTPUT] + (" …" if len(printed) > MAX_OUTPUT else ""),
    )


def checks_of(result: ExerciseResult, cell: Cell) -> list[CheckResult]:
    """The checks that a grade cell stands for. Raises InfrastructureError where there are none."""
    task = cell_ids.task(cell.id)
    checks = [check for check in result.checks if (check.task or 0) == task]
    if task is None or (not checks and result.status != ERROR):
        raise InfrastructureError(
            f"the grade cell {cell.id} holds no checks of {result.exercise}. "
            "Make the source notebook again: make nbgrader COURSE=dir, then nbgrader generate_assignment"
        )
    return checks


def _checks(checks: list[CheckResult]) -> Iterator[tuple[CheckResult, str]]:
    """Each check with its diagnosis, or "" where an earlier check has the same one."""
    shown_before: set[str] = set()
    for check in checks:
        is_new_diagnosis = check.outcome == FAILED and check.diagnosis and check.diagnosis not in shown_before
        shown_before |= {check.diagnosis} if is_new_diagnosis else set()
        yield check, check.diagnosis if is_new_diagnosis else ""
