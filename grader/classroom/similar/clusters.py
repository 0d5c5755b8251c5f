"""Joins similar pairs into clusters: everybody who agrees with somebody in it, directly or through others."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.handins import Student
from grader.classroom.similar.pairs import Pair


@dataclass(frozen=True)
class Cluster:
    """Students whose files agree. pairs: in the order given, the strongest first."""

    students: tuple[Student, ...]
    pairs: tuple[Pair, ...]


def clusters(pairs: Sequence[Pair]) -> list[Cluster]:
    """The clusters of these pairs, in the order in which their first pairs stand."""
    leader: dict[Student, Student] = {}

    def lead(student: Student) -> Student:
        """The student who represents the cluster of a student."""
        while (above := leader.setdefault(student, student)) != student:
            leader[student] = student = leader[above]
        return student

    for pair in pairs:
        leader[lead(pair.student_b)] = lead(pair.student_a)
    pairs_of: dict[Student, list[Pair]] = {}
    for pair in pairs:
        pairs_of.setdefault(lead(pair.student_a), []).append(pair)
    return [
        Cluster(
            tuple(sorted({member for pair in pairs_of_cluster for member in (pair.student_a, pair.student_b)})),
            tuple(pairs_of_cluster),
        )
        for pairs_of_cluster in pairs_of.values()
    ]
