"""Finds the pairs of students whose submissions agree. An agreement counts more, the fewer others wrote the same.

Fingerprints of the stub, the solution or a known mistake do not count, since short exercises look alike by nature. Nor
do those that a tenth of the class has. The rest are a student's own fingerprints. A pair agrees in an exercise where it
shares half of the smaller set. The weights of the shared fingerprints are added up over the exercises, and a pair is
listed from a sum on that grows with the number of pairs in the class.
"""

import concurrent.futures
import concurrent.futures.process
import functools
import itertools
import math
import multiprocessing
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.catalog import mistakes, paths, stubs
from grader.catalog.errors import BadSubmission, InfrastructureError, NoSuchFile
from grader.classroom.handins import HandIn, Student
from grader.classroom.similar.fingerprints import Lines, fingerprints
from grader.classroom.similar.shared import agreeing

LEAST_WEIGHT = 10.0  # of the only pair of a class; more where there are more pairs
MOST_LINES, MOST_COLUMNS = 40, 160  # of a piece of evidence
CHUNK = 100  # submissions that a process is given at once


@dataclass(frozen=True)
class Agreement:
    """Lines of one file and lines of the other that agree. code: the lines themselves, where they may be shown."""

    a: Lines
    b: Lines
    code: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        return f"{self.a} of the one, {self.b} of the other"


@dataclass(frozen=True)
class Pair:
    """Two students whose files for an exercise agree.

    score: the share of the smaller file's own fingerprints that the other has too, 0 to 1; weight: the sum of the
    weights of these fingerprints; total: the sum over all exercises in which the two agree.
    """

    student_a: Student
    student_b: Student
    exercise: str
    score: float
    evidence: tuple[Agreement, ...]
    weight: float
    total: float


def pairs(handins: Iterable[HandIn], jobs: int = 1) -> tuple[Pair, ...]:
    """The pairs for a person to look at, those with the largest total first. jobs: processes that read the files."""
    by_exercise: dict[str, list[HandIn]] = defaultdict(list)
    for handin in handins:
        by_exercise[handin.exercise].append(handin)
    count = max((len(files) for files in by_exercise.values()), default=0)
    agreements: dict[tuple[Student, Student], list[tuple[HandIn, HandIn, float, float]]] = defaultdict(list)
    for files in by_exercise.values():
        files.sort(key=lambda handin: handin.student)
    rows = sorted(by_exercise.items())
    read = iter(_read([handin for _, files in rows for handin in files], jobs))
    for exercise, files in rows:
        prints = list(itertools.islice(read, len(files)))
        for i, j, score, weight in agreeing(prints, common_fingerprints(exercise)):
            a, b = files[i], files[j]
            if (a.place, a.member) != (b.place, b.member):  # one file that a group handed in
                agreements[a.student, b.student].append((a, b, score, weight))
    listed: list[Pair] = []
    for (first, second), shared in agreements.items():
        total = sum(weight for *_, weight in shared)
        if total >= demanded(count):
            listed += [
                Pair(first, second, a.exercise, score, evidence(a, b), round(weight, 1), round(total, 1))
                for a, b, score, weight in shared
            ]
    return tuple(sorted(listed, key=lambda pair: (-pair.total, pair.student_a, pair.student_b, pair.exercise)))


def demanded(students: int) -> float:
    """The total from which on a pair is listed. The more pairs there are, the more of them agree by chance."""
    return LEAST_WEIGHT + 0.5 * math.log2(max(math.comb(students, 2), 1))


@functools.cache
def common_fingerprints(exercise: str) -> frozenset[int]:
    """The fingerprints of the stub, the solution and the known mistakes, which are no student's own."""
    files = [paths.pristine_stub(exercise), paths.solution(exercise)]
    sources = [path.read_text("utf-8") for path in files if path.exists()]
    sources += [mistake.source for mistake in mistakes.mistakes(exercise)]
    if paths.solution(exercise).exists():
        sources.append(stubs.make(paths.solution(exercise).read_text("utf-8")))
    return frozenset(itertools.chain.from_iterable(map(fingerprints, sources)))


def evidence(a: HandIn, b: HandIn) -> tuple[Agreement, ...]:
    """The lines in which the students' own code agrees. Neighbouring lines are one piece."""
    common = common_fingerprints(a.exercise)
    sources = a.read().source, b.read().source
    in_a, in_b = map(fingerprints, sources)
    shared = sorted((in_a[p], in_b[p]) for p in in_a.keys() & in_b.keys() if p not in common)
    pieces: list[Agreement] = []
    for lines_a, lines_b in shared:
        last = pieces[-1] if pieces else None
        if last and lines_a.first <= last.a.last + 1 and last.b.first - 1 <= lines_b.first <= last.b.last + 1:
            pieces[-1] = Agreement(last.a.joined(lines_a), last.b.joined(lines_b))
        else:
            pieces.append(Agreement(lines_a, lines_b))
    return tuple(
        replace(agreement, code=(_cut(sources[0], agreement.a), _cut(sources[1], agreement.b))) for agreement in pieces
    )


def _cut(source: str, lines: Lines) -> str:
    """The lines of a source, shortened to what a person compares at a glance."""
    all_lines = source.splitlines()[lines.first - 1 : lines.last]
    more = [f"… {len(all_lines) - MOST_LINES} lines more"] if len(all_lines) > MOST_LINES else []
    return "\n".join([*(line[:MOST_COLUMNS] for line in all_lines[:MOST_LINES]), *more])


def _read(files: list[HandIn], jobs: int) -> Iterable[frozenset[int]]:
    """The fingerprints of each file, in order."""
    if jobs < 2 or len(files) <= CHUNK:
        return map(_fingerprints, files)
    context = multiprocessing.get_context("spawn")
    try:
        with concurrent.futures.ProcessPoolExecutor(jobs, context) as pool:
            return list(pool.map(_fingerprints, files, chunksize=CHUNK))
    except concurrent.futures.process.BrokenProcessPool:
        raise InfrastructureError("a process that read submissions was ended from outside (memory?)") from None


def _fingerprints(handin: HandIn) -> frozenset[int]:
    """The fingerprints of one file; none where it cannot be read."""
    try:
        return frozenset(fingerprints(handin.read().source))
    except (BadSubmission, NoSuchFile):  # the grading says so
        return frozenset()
