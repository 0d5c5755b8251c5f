"""Shows a run: what was found, a bar at a terminal, and the end."""

import sys
import time
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.classroom.grade import Begun
from grader.classroom.marks import LEFT_OUT, NOTHING, PERSON, Mark, count_in_words
from grader.classroom.pool import Outcome
from grader.classroom.run import Seen, Written
from grader.records.sanitize import label

MOST = 10  # lines about files
COLUMNS = (
    TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True),
)  # fmt: skip


class Show:
    """Shows the events of a run on stderr."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.counts: Counter[str] = Counter()  # gradings, by status
        self.bar = Progress(
            *COLUMNS, console=self.console, transient=True, refresh_per_second=5, disable=not self.console.is_terminal
        )
        self.began = time.monotonic()

    def close(self) -> None:
        """Remove the bar."""
        self.bar.stop()

    def show(self, event: Seen | Begun | Outcome | Written) -> None:
        match event:
            case Seen():
                self._seen(event)
            case Begun():
                seed = "" if event.seed is None else f"Seed {event.seed}. "
                work = f"{count_in_words(event.to_grade, 'grading')} to do."
                self.say(f"Sandbox tier {event.sandbox}, tested. {seed}{work}")
                self.began = time.monotonic()
                self.task = self.bar.add_task("grading", total=event.to_grade)
                self.bar.start()
            case Outcome():
                self.counts[event.status if not event.trouble else "not graded"] += 1
                self.bar.update(self.task, advance=1, description=f"grading ({self._summary()})")
            case Written():
                self.close()
                self._written(event)

    def say(self, line: str) -> None:
        """Write one line, above the bar if there is one."""
        self.console.print(label(line))
        sys.stderr.flush()

    def _seen(self, seen: Seen) -> None:
        statuses = Counter(mark.status for mark in seen.marks)
        files = statuses.total() - statuses[NOTHING]
        handed_in = files - statuses[PERSON] - statuses[LEFT_OUT]
        students = len({mark.student for mark in seen.marks if mark.student})
        self.say(
            f"{seen.layout}: {count_in_words(students, 'student')}, {count_in_words(handed_in, 'hand-in')}; "
            f"{statuses[PERSON]:,} need{'s' * (statuses[PERSON] == 1)} a person, {statuses[LEFT_OUT]:,} left out."
        )
        for note in seen.notes:
            self.say(note)

    def _summary(self) -> str:
        return ", ".join(f"{self.counts[name]} {name}" for name in sorted(self.counts))

    def _written(self, written: Written) -> None:
        done = self.counts.total()
        seconds = time.monotonic() - self.began
        rate = f"in {seconds:.1f} s ({done / max(seconds, 0.001):.1f} a second)"
        words = f"{count_in_words(done, 'grading')} {rate}: {self._summary()}."
        self.say(words if done else "Nothing to grade: all have their results.")
        needing = written.needs_person
        for mark in needing[:MOST]:
            self.say(f"  needs a person: {_line(mark)}")
            if mark.to_do:
                self.say(f"    what to do: {mark.to_do}")
        if len(needing) > MOST:
            self.say(f"  … and {len(needing) - MOST:,} more: marks.csv begins with them.")
        self.say(f"Results: {written.out}/class.html, marks.csv, grades.csv, feedback/, json/")


def _line(mark: Mark) -> str:
    who = f" ({mark.who})" if mark.student else ""
    return f"{mark.file}{who}: {mark.note}"
