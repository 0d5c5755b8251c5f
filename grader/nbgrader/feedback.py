"""A result as the outputs of a notebook's grade cells: what a learner reads, and the score that nbgrader takes."""

from collections.abc import Iterator
from html import escape

from nbformat.v4 import new_output

from grader.nbgrader import names
from grader.nbgrader.cells import Cell
from grader.nursery import InfrastructureError
from grader.report.inert import inert
from grader.results import ERROR, FAILED, PASSED, CheckResult, ExerciseResult

SIGNS = {"passed": "✔", "failed": "✘", "not_checked": "–"}
NOT_STARTED = "Not started yet: write your code in the place of each <code>raise NotImplementedError</code>."
MAX_OUTPUT = 2_000  # characters of what the code printed


def score(result: ExerciseResult, cell: Cell) -> float:
    """The points of a grade cell: its checks' share of what the gradebook says it is worth.

    Raises InfrastructureError where the cell holds no checks of this exercise.
    """
    if result.status == ERROR:
        return 0.0
    checks = checks_of(result, cell)
    most = sum(check.max_points for check in checks)
    if all(check.outcome == PASSED for check in checks):
        return cell.points
    return round(min(max(sum(check.points for check in checks) / most, 0.0), 1.0) * cell.points, 6)


def output(result: ExerciseResult, cell: Cell, first: bool):
    """The one output of a grade cell. nbgrader reads the score from its plain text, people see the HTML.

    first: whether this cell also says what concerns the whole notebook.
    """
    data = {"text/plain": repr(score(result, cell)), "text/html": html(result, cell, first)}
    return new_output("execute_result", data=data, execution_count=None)


def html(result: ExerciseResult, cell: Cell, first: bool) -> str:
    """What the learner reads below one grade cell. No tag but plain ones, all text escaped."""
    parts = [f"<p><strong>{score(result, cell):g} of {cell.points:g} points</strong></p>"]
    if not result.started:  # the result's own words name the stub's file, which a course does not have
        parts.append(f"<p>{NOT_STARTED}</p>")
    elif result.message and (first or result.status == ERROR):
        parts.append(_block(result.message))
    if first:
        parts += [f"<p>{_text(note)}</p>" for note in result.notes]
    if result.status != ERROR and result.started:
        parts.append(f"<ul>{''.join(_checks(checks_of(result, cell)))}</ul>")
    if first and result.output.strip():
        printed = result.output[:MAX_OUTPUT] + (" …" if len(result.output) > MAX_OUTPUT else "")
        parts.append(f"<p>Your code printed:</p>{_block(printed)}")
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def checks_of(result: ExerciseResult, cell: Cell) -> list[CheckResult]:
    """The checks that a grade cell stands for. Raises InfrastructureError where there are none."""
    task = names.task(cell.id)
    checks = [check for check in result.checks if (check.task or 0) == task]
    if task is None or (not checks and result.status != ERROR):
        raise InfrastructureError(
            f"the grade cell {cell.id} holds no checks of {result.exercise}. "
            "Make the source notebook again: make nbgrader COURSE=dir, then nbgrader generate_assignment"
        )
    return checks


def _checks(checks: list[CheckResult]) -> Iterator[str]:
    """A line for each check; a diagnosis is said once."""
    said: set[str] = set()
    for check in checks:
        line = f"{SIGNS[check.outcome]} {_text(check.title)} <em>{check.points:g}/{check.max_points:g}</em>"
        new = check.outcome == FAILED and check.diagnosis and check.diagnosis not in said
        said |= {check.diagnosis} if new else set()
        message = "" if check.outcome == PASSED else _block(check.message)
        yield f"<li>{line}{message}{f'<p>likely: {_text(check.diagnosis)}</p>' if new else ''}</li>"


def _block(text: str) -> str:
    return f"<pre>{_text(text)}</pre>" if text else ""


def _text(text: str) -> str:
    return escape(inert(text))
