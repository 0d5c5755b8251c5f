"""Finds the pairs. What agrees counts the more, the fewer others wrote it; over several exercises it adds up.

What is in the stub, the solution or a known mistake counts as nobody's own: short exercises look alike by nature.
So does what a tenth of the class wrote. Of what is left (a student's own fingerprints) a pair agrees in an exercise
where it shares half of the smaller one's. The weights of what is shared add up over the exercises, and a pair is
listed from a sum on that grows with the number of pairs that there are.
"""

import concurrent.futures
import concurrent.futures.process
import functools
import itertools
import math
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.catalog import mistakes, paths, stubs
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.classroom.handins import HandIn, Student
from grader.classroom.similar.fingerprints import Lines, fingerprints
from grader.records.submission import NoSuchFile

LEAST_SHARE = 0.5  # of the smaller one's own fingerprints
LEAST_WEIGHT = 10.0  # for one pair; more for more pairs
COMMON, FEW = 0.1, 6  # what more than this share of the class wrote, and more than these few, is common
MOST_GROUPS = 300  # in which one fingerprint is looked up; what more have is too common to be worth its time
ALL_PAIRS = 8  # of so many who wrote the same every pair is listed, of more each with the first
CHUNK = 100  # submissions handed to a process at once


@dataclass(frozen=True)
class Agreement:
    """Lines of the one and lines of the other that say the same."""

    a: Lines
    b: Lines

    def __str__(self) -> str:
        return f"{self.a} of the one, {self.b} of the other"


@dataclass(frozen=True)
class Pair:
    """Two students whose files of an exercise agree. score: the shared part of the smaller one's own fingerprints.

    weight: how much that says, here and, as `total`, over all exercises in which the two agree.
    """

    student_a: Student
    student_b: Student
    exercise: str
    score: float
    evidence: tuple[Agreement, ...]
    weight: float
    total: float


def pairs(handins: Iterable[HandIn], jobs: int = 1) -> tuple[Pair, ...]:
    """The pairs to look at, the weightiest first; those of one pair stand together."""
    by_exercise: dict[str, list[HandIn]] = defaultdict(list)
    for handin in handins:
        by_exercise[handin.exercise].append(handin)
    count = max((len(files) for files in by_exercise.values()), default=0)
    found: dict[tuple[Student, Student], list[tuple[HandIn, HandIn, float, float]]] = defaultdict(list)
    for files in by_exercise.values():
        files.sort(key=lambda handin: handin.student)
    rows = sorted(by_exercise.items())
    read = iter(_read([handin for _, files in rows for handin in files], jobs))
    for exercise, files in rows:
        prints = list(itertools.islice(read, len(files)))
        for i, j, score, weight in agreeing(prints, given(exercise)):
            a, b = files[i], files[j]
            if (a.place, a.member) != (b.place, b.member):  # one file that a group handed in
                found[a.student, b.student].append((a, b, score, weight))
    listed = []
    for (a, b), agreed in found.items():
        total = sum(weight for *_, weight in agreed)
        if total >= demanded(count):
            listed += [
                Pair(a, b, one.exercise, score, evidence(one, other), round(weight, 1), round(total, 1))
                for one, other, score, weight in agreed
            ]
    return tuple(sorted(listed, key=lambda pair: (-pair.total, pair.student_a, pair.student_b, pair.exercise)))


def demanded(students: int) -> float:
    """The weight from which on a pair is listed: the more pairs there are, the more of them agree by chance."""
    return LEAST_WEIGHT + 0.5 * math.log2(max(math.comb(students, 2), 1))


@functools.cache
def given(exercise: str) -> frozenset[int]:
    """What is nobody's own: the fingerprints of the stub, the solution and the known mistakes."""
    files = [paths.pristine_stub(exercise), paths.solution(exercise)]
    sources = [path.read_text("utf-8") for path in files if path.exists()]
    sources += [mistake.source for mistake in mistakes.mistakes(exercise)]
    if paths.solution(exercise).exists():
        sources.append(stubs.make(paths.solution(exercise).read_text("utf-8")))
    return frozenset(itertools.chain.from_iterable(map(fingerprints, sources)))


def agreeing(prints: Sequence[frozenset[int]], given: frozenset[int] = frozenset()):
    """(i, j, score, weight) for each two that share enough, i < j.

    An inverted index: only who shares a rare fingerprint is compared.
    """
    frequency = Counter(itertools.chain.from_iterable(prints))
    limit = max(FEW, COMMON * len(prints))
    groups: dict[frozenset[int], list[int]] = defaultdict(list)  # who wrote the same
    for index, all_of_it in enumerate(prints):
        groups[frozenset(p for p in all_of_it if frequency[p] <= limit and p not in given)].append(index)
    groups.pop(frozenset(), None)
    rarity = _Rarity(len(prints), frequency)
    index: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(groups):
        for print_ in own:
            if frequency[print_] > 1:
                index[print_].append(number)
    everyone = list(groups.items())
    for number, (own, members) in enumerate(everyone):
        yield from _among(members, 1.0, sum(map(rarity, own)))
        weights, shared = Counter(), Counter()
        for print_ in own:
            others = index.get(print_, ())
            if len(others) <= MOST_GROUPS:
                for other in others:
                    if other > number:
                        weights[other] += rarity(print_)
                        shared[other] += 1
        for other, hits in shared.items():
            score = hits / min(len(own), len(everyone[other][0]))
            if score >= LEAST_SHARE:
                yield from _between(members, everyone[other][1], score, weights[other])


class _Rarity(dict):
    """The weight of a fingerprint: 1 where two alone have it, less the more others do."""

    def __init__(self, students: int, frequency: Counter):
        self.whole, self.frequency = math.log2(students + 1), frequency

    def __call__(self, print_: int) -> float:
        return self[self.frequency[print_]]

    def __missing__(self, count: int) -> float:
        others = max(count - 1, 1)
        self[count] = 1 - math.log2(others) / self.whole if self.whole else 0.0
        return self[count]


def evidence(a: HandIn, b: HandIn) -> tuple[Agreement, ...]:
    """The lines that agree, of what is the students' own; neighbouring ones as one piece."""
    nobodys = given(a.exercise)
    in_a, in_b = fingerprints(a.read().source), fingerprints(b.read().source)
    shared = sorted((in_a[p], in_b[p]) for p in in_a.keys() & in_b.keys() if p not in nobodys)
    pieces: list[Agreement] = []
    for one, other in shared:
        last = pieces[-1] if pieces else None
        if last and one.first <= last.a.last + 1 and last.b.first - 1 <= other.first <= last.b.last + 1:
            pieces[-1] = Agreement(last.a.joined(one), last.b.joined(other))
        else:
            pieces.append(Agreement(one, other))
    return tuple(pieces)


def _among(members: list[int], score: float, weight: float):
    if len(members) <= ALL_PAIRS:
        for i, j in itertools.combinations(members, 2):
            yield i, j, score, weight
    else:
        for j in members[1:]:
            yield members[0], j, score, weight


def _between(some: list[int], others: list[int], score: float, weight: float):
    if len(some) * len(others) > ALL_PAIRS**2:
        some, others = some[:1], others[:1]
    for i, j in itertools.product(some, others):
        yield min(i, j), max(i, j), score, weight


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
    try:
        return frozenset(fingerprints(handin.read().source))
    except (BadSubmission, NoSuchFile):  # graded as what it is elsewhere
        return frozenset()
