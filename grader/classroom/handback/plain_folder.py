"""A folder with a page for each student, named by their ids: for a mail merge, a shared drive, a repository."""

from collections.abc import Iterator, Sequence

from grader.classroom.handback.released import File, Handed
from grader.classroom.pages import feedback


def files(everybody: Sequence[Handed], exercises: Sequence[str], level: str) -> Iterator[File]:
    """Each student's page with all exercises."""
    for one in everybody:
        page = feedback.page(one.student, one.results, exercises, level, one.ungraded, one.standing)
        yield File(f"{one.student.id}/feedback.html", page)
