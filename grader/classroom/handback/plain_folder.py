"""A folder with a page for each student, named by their ids: for a mail merge, a shared drive, a repository."""

from collections.abc import Iterator, Sequence

from grader.classroom.handback.released import File, Handed
from grader.classroom.pages import feedback


def files(all_handed: Sequence[Handed], exercises: Sequence[str], level: str) -> Iterator[File]:
    """Each student's page with all exercises."""
    for handed in all_handed:
        page = feedback.page(handed.student, handed.results, exercises, level, handed.ungraded, handed.standing)
        yield File(f"{handed.student.id}/feedback.html", page)
