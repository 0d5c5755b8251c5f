"""Statistics of a class, as pure functions over its summary.

How the totals spread, how hard each check is, whom to help first, which topics to teach again, and the part of a term
that the class page shows beside the whole.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from grader import catalog
from grader.catalog import mistakes
from grader.catalog.exercise import Misconception
from grader.classroom.grades import round_points
from grader.classroom.handins import Student, count_in_words
from grader.classroom.history import History
from grader.classroom.ledger import WEEK
from grader.classroom.store import Store
from grader.classroom.summary import ABSENT, CHECK_FAILED, CHECK_PASSED, NOT_STARTED, Kind, Past, Row, Stuck, Summary
from grader.records.results import known_sentences

LEAST = 5  # students who passed, and who failed, below which a correlation says nothing
LEAST_TRIED = 5  # files on which a check was tried, below which a share says nothing
HALF = 0.5  # an exercise that at least this share of the class has begun is one that everybody could have begun
PATIENCE = 4  # attempts without change after which one more says nothing new


@dataclass(frozen=True)
class Spread:
    """The spread of points. lower, upper: the quartiles, interpolated linearly between neighbours.

    deviation: the standard deviation of a sample (n - 1), 0 of one.
    """

    count: int
    mean: float
    least: float
    lower: float
    median: float
    upper: float
    most: float
    deviation: float


def spread(totals: Sequence[float]) -> Spread | None:
    """The spread of totals, None of no total."""
    if not totals:
        return None
    lower, median, upper = statistics.quantiles(totals, method="inclusive") if len(totals) > 1 else [totals[0]] * 3
    deviation = statistics.stdev(totals) if len(totals) > 1 else 0.0
    return Spread(len(totals), statistics.fmean(totals), min(totals), lower, median, upper, max(totals), deviation)


@dataclass(frozen=True)
class Difficulty:
    """One check in the class, among the files that could be run.

    exercise: its index; discrimination: the point-biserial correlation, from -1 to 1, of passing with the points that
    the student has in all other checks; None where it would say nothing.
    """

    exercise: int
    title: str
    passed: int
    failed: int
    not_checked: int
    discrimination: float | None

    @property
    def tried(self) -> int:
        """The files that were judged by this check: those that it was not checked on do not count."""
        return self.passed + self.failed

    @property
    def failing(self) -> float:
        """The share of these files that failed it, from 0 to 1."""
        return self.failed / self.tried if self.tried else 0.0


def checks(summary: Summary) -> list[Difficulty]:
    """All checks, in the order of the exercises."""
    earned = [_earned(summary, row) for row in summary.rows]
    difficulties = []
    for index, exercise in enumerate(summary.exercises):
        for place, (name, points) in enumerate(exercise.points.items()):
            outcomes = [(row.outcomes[index][place : place + 1], sum_) for row, sum_ in zip(summary.rows, earned)]
            passed = [sum_ - points for outcome, sum_ in outcomes if outcome == CHECK_PASSED]
            failed = [sum_ for outcome, sum_ in outcomes if outcome == CHECK_FAILED]
            not_checked = sum(bool(outcome) for outcome, _ in outcomes) - len(passed) - len(failed)
            title = summary.titles.get((index, name), name)
            counts = len(passed), len(failed), not_checked
            difficulties.append(Difficulty(index, title, *counts, discrimination(passed, failed)))
    return difficulties


def least_tried(all_checks: Iterable[Difficulty]) -> int:
    """On how many files a check must have been tried to be compared: in a small class, on as many as any check."""
    return min(LEAST_TRIED, max((check.tried for check in all_checks), default=0))


def hardest(all_checks: Sequence[Difficulty], count: int) -> list[Difficulty]:
    """The checks that the largest share of the files failed on which they were tried, `count` at most.

    Those that were tried on fewer than `least_tried` files are left out.
    """
    least = least_tried(all_checks)
    failed = [check for check in all_checks if check.failed and check.tried >= least]
    return sorted(failed, key=lambda check: (-check.failing, -check.failed, check.exercise, check.title))[:count]


def discrimination(passed: Sequence[float], failed: Sequence[float]) -> float | None:
    """The point-biserial correlation of passing with a score. passed, failed: the scores of who did.

    It is Pearson's correlation, where passing counts as 1 and failing as 0. None where fewer than LEAST passed or
    failed, or where all scores are equal.
    """
    if min(len(passed), len(failed)) < LEAST:
        return None
    scores, count = (*passed, *failed), len(passed) + len(failed)
    mean = math.fsum(scores) / count
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / count)
    if deviation < 1e-9:
        return None
    distance = math.fsum(passed) / len(passed) - math.fsum(failed) / len(failed)
    return distance / deviation * math.sqrt(len(passed) * len(failed)) / count


@dataclass(frozen=True)
class Need:
    """One student who may need help. score: from 0 to 3, one for each kind of reason at its worst."""

    row: Row
    score: float
    reasons: tuple[str, ...]


def rank(summary: Summary, stuck: Mapping[str, Sequence[Stuck]], limit: int) -> list[Need]:
    """The students who need help most, at most `limit` of them. stuck: by student's id.

    The score is the sum of three shares: the points that are missing to the median of the class, the exercises not
    begun among those that half of the class has begun, and the attempts without change, four of which are a whole.
    Who handed in nothing at all is not in the list: that needs a letter and no help with an exercise.
    """
    median = summary.median() or 0.0
    begun = _begun_by_half(summary)
    if len(summary.totals()) < LEAST:  # of so few, nobody is below the others
        median, begun = 0.0, []
    needs = [_need(summary, row, median, begun, stuck.get(row.student.id, ())) for row in summary.rows if row.handed_in]
    return sorted((need for need in needs if need.score > 0), key=lambda need: (-need.score, need.row.student))[:limit]


@dataclass(frozen=True)
class Lesson:
    """A misconception in the class. students: who showed it, by index of row; exercises: indexes, the commonest first.

    example: the sentence that most of them read, with the index of its exercise.
    """

    misconception: Misconception
    students: tuple[int, ...]
    exercises: tuple[int, ...]
    example: Kind


def to_teach(summary: Summary) -> list[Lesson]:
    """The misconceptions that somebody showed, that of most students first.

    A student counts once for each, however many exercises and checks show it. Diagnoses that no known mistake gave
    belong to none. An exercise that fewer than LEAST handed in says nothing of a class, unless none has more.
    """
    handed_in = [sum(bool(row.outcomes[i]) for row in summary.rows) for i in range(len(summary.exercises))]
    least = min(LEAST, max(handed_in, default=0))
    students: dict[str, list[int]] = defaultdict(list)
    kinds: dict[str, Counter[Kind]] = defaultdict(Counter)
    kinds_read = {kind for row in summary.rows for kind in row.diagnoses}
    shown = {kind: _shown(summary, kind) for kind in kinds_read if handed_in[kind[0]] >= least}  # few, in any class
    for place, row in enumerate(summary.rows):
        occurrences = {
            (misconception.id, index, sentence)
            for kind in row.diagnoses
            for misconception, index, sentence in shown.get(kind, ())
        }
        for id in {id for id, _, _ in occurrences}:
            students[id].append(place)
        for id, index, sentence in occurrences:
            kinds[id][index, sentence] += 1
    lessons = [
        _lesson(misconception, students[id], kinds[id])
        for id, misconception in mistakes.misconceptions().items()
        if kinds[id]
    ]
    return sorted(lessons, key=lambda lesson: -len(lesson.students))


def again(misconception: Misconception) -> str:
    """The lesson and its section, in words: "06 Scaled dot-product attention, “The formula”"."""
    return f"{misconception.lesson} {catalog.find(misconception.lesson).title}, “{misconception.section}”"


@dataclass(frozen=True)
class Choice:
    """Which hand-ins are meant. handins: (student's id, exercise); None: all of these exercises."""

    words: str
    exercises: Sequence[str]
    handins: Collection[tuple[str, str]] | None = None


@dataclass(frozen=True)
class Week:
    """A part of the term as two sums.

    fresh: the chosen hand-ins alone; whole: the same exercises with everybody's hand-in, as nobody is behind who handed
    in earlier. few: (exercise, hand-ins) of those with too few for any conclusion, which are in neither.
    """

    words: str
    fresh: Summary
    whole: Summary
    few: Sequence[tuple[str, int]] = ()

    @property
    def remark(self) -> str:
        """A sentence on the exercises that are left out."""
        if not self.few:
            return ""
        listed = ", ".join(f"{exercise[:2]} ({count_in_words(count, 'hand-in')})" for exercise, count in self.few)
        return f"Left out, because fewer than {LEAST} hand-ins allow no conclusion: {listed}."

    def rename(self, names: Mapping[str, Student]) -> "Week":
        """The same under other names."""
        return replace(self, fresh=self.fresh.rename(names), whole=self.whole.rename(names))

    def stuck(self, past: Past) -> dict[str, list]:
        """Who is stuck at one of these exercises."""
        folders = {exercise.folder for exercise in self.whole.exercises}
        return {id: [one for one in entries if one.exercise in folders] for id, entries in past.stuck.items()}


@dataclass(frozen=True)
class Chooser:
    """What the instructor asked for. exercises: those named; since: a time; both may be missing."""

    exercises: Sequence[str] = field(default_factory=tuple)
    since: datetime | None = None

    def choice(self, store: Store, history: History) -> Choice | None:
        """The hand-ins that are meant; None where they are the whole term."""
        recent: set[tuple[str, str]] | None = None
        words = []
        if self.exercises:
            words.append(f"exercise{'s' * (len(self.exercises) > 1)} {', '.join(name[:2] for name in self.exercises)}")
        if self.since is not None:
            recent = history.recent(since=self.since)
            words.append(f"handed in since {self.since:%Y-%m-%d %H:%M}".removesuffix(" 00:00"))
        elif not self.exercises:
            if not store.fact(WEEK):
                return None
            recent = history.recent(after=store.fact(WEEK))
            words.append("new since the run before")
        exercises = self.exercises or sorted({exercise for _, exercise in recent or ()})
        return Choice(", ".join(words), exercises, recent)


def week_of(summary: Summary, choice: Choice | None) -> Week | None:
    """The chosen part of a term."""
    if choice is None:
        return None
    folders = [exercise.folder for exercise in summary.exercises]
    exercises = [folder for folder in folders if folder in choice.exercises]
    fresh = summary.only(exercises, choice.handins)
    counts = Counter({folder: sum(row.states[i] != ABSENT for row in fresh.rows) for i, folder in enumerate(exercises)})
    enough = [folder for folder in exercises if counts[folder] >= LEAST]
    few = [(folder, counts[folder]) for folder in exercises if 0 < counts[folder] < LEAST]
    if not enough and not few and choice.handins is None:
        return None
    return Week(choice.words, summary.only(enough, choice.handins), summary.only(enough), few)


def _earned(summary: Summary, row: Row) -> float:
    """The points of all checks that a student passed, whatever the rules of the course make of them."""
    return math.fsum(
        points
        for exercise, outcomes in zip(summary.exercises, row.outcomes)
        for points, outcome in zip(exercise.points.values(), outcomes)
        if outcome == CHECK_PASSED
    )


def _need(summary: Summary, row: Row, median: float, begun: Sequence[int], stuck: Sequence[Stuck]) -> Need:
    """The need of one student. begun: the indexes of the exercises that half of the class has begun."""
    score, reasons = 0.0, []
    if row.total is not None and row.total < median:
        score += (median - row.total) / median
        reasons.append(f"{round_points(row.total)} points, the median is {round_points(median)}")
    missing_indices = [
        index for index in begun if row.states[index] in (ABSENT, NOT_STARTED) and index not in row.unplaced
    ]
    if missing_indices:
        score += len(missing_indices) / len(begun)
        numbers = ", ".join(summary.exercises[index].folder[:2] for index in missing_indices)
        reasons.append(f"not begun, though half of the class has: {numbers}")
    if stuck:
        longest = max(stuck, key=lambda entry: (entry.attempts, entry.exercise))
        score += min(longest.attempts, PATIENCE) / PATIENCE
        reasons += [
            f"stuck at {entry.exercise[:2]} since {_day(entry)}: {entry.attempts} attempts passed the same checks"
            for entry in stuck
        ]
    return Need(row, score, tuple(reasons))


def _begun_by_half(summary: Summary) -> list[int]:
    rows = [row for row in summary.rows if row.handed_in]
    return [
        index
        for index in range(len(summary.exercises))
        if sum(row.states[index] not in (ABSENT, NOT_STARTED) for row in rows) >= HALF * max(len(rows), 1)
    ]


def _day(stuck: Stuck) -> str:
    return f"{stuck.since.day} {stuck.since:%B}"


def _lesson(misconception: Misconception, students: list[int], kinds: Counter[Kind]) -> Lesson:
    by_exercise: Counter[int] = Counter()
    for (index, _), count in kinds.items():
        by_exercise[index] += count
    exercises = sorted(by_exercise, key=lambda index: (-by_exercise[index], index))
    example = min(kinds, key=lambda kind: (-kinds[kind], kind))
    return Lesson(misconception, tuple(students), tuple(exercises), example)


def _shown(summary: Summary, kind: Kind) -> list[tuple[Misconception, int, str]]:
    """The misconceptions behind a diagnosis, which may name two mistakes; of "one or the other" the first counts."""
    index, diagnosis = kind
    of_sentence = mistakes.misconceptions_of_sentences(summary.exercises[index].folder)
    return [(of_sentence[said], index, said) for said in known_sentences(diagnosis) if said in of_sentence]
