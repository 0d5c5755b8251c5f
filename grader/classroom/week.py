"""The part of a term that the class page shows beside the whole: named exercises, a time, or what is new."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from grader.classroom.analysis import LEAST
from grader.classroom.handins import Student, counted
from grader.classroom.history import History
from grader.classroom.ledger import WEEK
from grader.classroom.store import Store
from grader.classroom.summary import ABSENT, Past, Summary


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
        listed = ", ".join(f"{exercise[:2]} ({counted(count, 'hand-in')})" for exercise, count in self.few)
        return f"Left out, because fewer than {LEAST} hand-ins allow no conclusion: {listed}."

    def renamed(self, names: Mapping[str, Student]) -> "Week":
        """The same under other names."""
        return replace(self, fresh=self.fresh.renamed(names), whole=self.whole.renamed(names))

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
