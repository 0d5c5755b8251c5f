"""The ids of a course's cells. An id ties a cell of a notebook to the gradebook permanently."""

SETUP = "documented_checks"  # the cell that makes %documented known


def checks(task: int) -> str:
    """The id of the grade cell with a task's checks; 0 stands for checks that belong to no task."""
    return f"task_{task}" if task else "whole"


def task(grade_id: str) -> int | None:
    """The task whose checks this grade cell holds; None where the course did not make the cell."""
    if grade_id == "whole":
        return 0
    number = grade_id.removeprefix("task_")
    return int(number) if number != grade_id and number.isdecimal() and number.isascii() else None


def solution(definition: str) -> str:
    """The id of the cell in which the learner writes this definition."""
    return f"write_{definition}"
