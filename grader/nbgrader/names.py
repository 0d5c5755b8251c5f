"""What the cells of a course are called. An id ties a cell of a notebook to the gradebook for good."""

SETUP = "documented_checks"  # the cell that makes %documented known


def checks(task: int) -> str:
    """The grade cell of a task's checks; 0 stands for checks that belong to no task."""
    return f"task_{task}" if task else "whole"


def task(grade_id: str) -> int | None:
    """The task whose checks this grade cell holds; None where the cell is none of ours."""
    if grade_id == "whole":
        return 0
    number = grade_id.removeprefix("task_")
    return int(number) if number != grade_id and number.isdecimal() and number.isascii() else None


def solution(definition: str) -> str:
    return f"write_{definition}"
