"""Shows a run: its notes and its end, and in between a bar, or in a pipe a line every ten percent."""

import json
import sys
import time
from collections import Counter
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.catalog.errors import WrongUse
from grader.classroom import private
from grader.classroom.grades import number
from grader.classroom.handins import (
    TO_PLACE,
    Count,
    Misplaced,
    NeedsPerson,
    Unplaced,
    count_in_words,
    lines_of_doubt,
    listed,
    sum_line,
)
from grader.classroom.history import Change
from grader.classroom.run import Event
from grader.records.sanitize import label

STEP = 10  # percent between two lines where stderr is no terminal
FEWEST = 50  # gradings; a shorter run shows no such lines
MOST = 10  # lines about misplaced files, or about failures


class GradingProgress:
    """Counts gradings by status and shows how many are done. `begin` comes first, `end` last."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.counts: Counter[str] = Counter()  # gradings, by status
        self.bar: Progress | None = None
        self.total = self.percent = 0  # of the gradings; the share that the last line reported
        self.began = self.latest = time.monotonic()

    def begin(self, total: int) -> None:
        """Start the clock, and on a terminal the bar. total: the number of gradings to do."""
        self.total, self.began = total, time.monotonic()
        if self.console.is_terminal:
            columns = (
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"), TimeRemainingColumn(compact=True),
            )  # fmt: skip
            self.bar = Progress(*columns, console=self.console, transient=True, refresh_per_second=5)
            self.task = self.bar.add_task("grading", total=total, rate="")
            self.bar.start()

    def count(self, status: str) -> None:
        """Count one grading, and show the progress."""
        self.counts[status] += 1
        gradings = self.counts.total()
        self.latest = time.monotonic()
        rate = gradings / max(self.latest - self.began, 0.001)
        if self.bar:
            description = f"grading ({self.summary()})"
            self.bar.update(self.task, completed=gradings, rate=f"{rate:.0f}/s", description=description)
        elif self.total >= FEWEST and gradings * 100 // self.total >= self.percent + STEP:
            self.percent = gradings * 100 // self.total // STEP * STEP
            remaining_s = (self.total - gradings) / rate
            speed = f"{rate:.0f} a second, {remaining_s:.0f} s left"
            self.console.print(f"  {gradings} of {self.total}, {speed} ({self.summary()})")

    def end(self) -> str:
        """Remove the bar. Returns a line with the sum of all gradings."""
        self.end_bar()
        gradings = self.counts.total()
        seconds = max(self.latest - self.began, 0.001)
        rate = f" in {seconds:.1f} s ({gradings / seconds:.1f} a second)"
        rate = rate if gradings else ", all had been graded before"
        return f"{count_in_words(gradings, 'grading')}{rate}: {self.summary() or 'nothing to do'}."

    def end_bar(self) -> None:
        """Remove the progress bar, if there is one."""
        if self.bar:
            self.bar.stop()
            self.bar = None

    def summary(self) -> str:
        """The number of gradings by status, as text."""
        return ", ".join(f"{self.counts[name]} {name}" for name in sorted(self.counts))


class Show:
    """Shows the events of a run on stderr: a progress bar on a terminal, a few plain lines in a pipe.

    log: the file to which each event is appended as a line of JSON. Raises WrongUse where it cannot be written.
    """

    def __init__(self, log: Path | None = None) -> None:
        self.console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.progress = GradingProgress(self.console)
        self.handins = 0  # to grade
        try:
            self.log = log.open("a", encoding="utf-8") if log else None
        except OSError as error:
            raise WrongUse(f"{log} cannot be written: {error.strerror}") from None
        if log is not None:
            private.everything(log)

    def __call__(self, event: Event) -> None:
        if self.log:
            facts = {"time": round(time.time(), 3), "event": event.kind, **event.facts}
            try:
                self.log.write(json.dumps(facts, default=_plain) + "\n")
                self.log.flush()
            except OSError as error:  # the grading goes on without the log
                self.log = None
                self.say(f"the log cannot be written any more: {error.strerror}")
        getattr(self, f"on_{event.kind}")(**event.facts)

    def close(self) -> None:
        """Remove the progress bar and close the log."""
        self.progress.end_bar()
        if self.log:
            self.log.close()

    def on_found(
        self,
        layout: str,
        students: int,
        handins: int,
        files: Count,
        misplaced: tuple[Misplaced, ...],
        needs_person: tuple[NeedsPerson, ...],
        unplaced: tuple[Unplaced, ...] = (),
    ) -> None:
        """Show what the folder of submissions holds."""
        self.handins = handins
        if not handins:
            self.say("No student was found who handed in anything.")
        for one in unplaced[:MOST]:
            self.say(f"  needs a person: {one.shown}")
        if len(unplaced) > MOST:
            self.say(f"  … and {len(unplaced) - MOST:,} more whose files could not be placed: all are in class.html.")
        if unplaced:
            self.say(f"    what to do: {TO_PLACE}.")
        self.say(sum_line(files))
        self.say(f"{layout}: {count_in_words(students, 'student')}, {count_in_words(handins, 'hand-in')} to grade.")
        for line in lines_of_doubt(needs_person, MOST):
            self.say(label(line))
        for file in misplaced[:MOST]:
            self.say(f"  not placed: {label(file.path)}: {label(file.reason)}")
        if len(misplaced) > MOST:
            self.say(f"  … and {len(misplaced) - MOST} more that could not be placed.")

    def on_notes(self, lines: tuple[str, ...]) -> None:
        """Show lines for the instructor."""
        for line in lines:
            self.say(line)

    def on_changed(self, changes: tuple[Change, ...]) -> None:
        """Show which marks changed since the last run."""
        if not changes:
            return
        self.progress.end_bar()
        self.say(f"{count_in_words(len(changes), 'mark')} changed since the last run (changes.csv has all):")
        for one in changes[:MOST]:
            points = f"{number(one.before, '–')} → {number(one.after, '–')}"
            self.say(f"  {label(one.student)} {one.exercise}: {points}, {label(one.why)}")
        if len(changes) > MOST:
            self.say(f"  … and {len(changes) - MOST} more.")

    def on_begin(self, to_grade: int, seed: int | None, sandbox: str) -> None:
        """Show that the gradings begin."""
        own_seed = "" if seed is None else f"Seed {seed}. "  # the teacher chose it; a secret one is None here
        once = " Files with the same bytes are graded once, and what has a result is not graded again."
        work = f"{count_in_words(to_grade, 'grading')} to do.{once * (to_grade < self.handins)}"
        self.say(f"Sandbox tier {sandbox}, tried out. {own_seed}{work}")
        self.progress.begin(to_grade)

    def on_graded(self, exercise: str, key: str, status: str) -> None:
        """Count a verdict."""
        self.progress.count(status)

    def on_ungraded(self, exercise: str, key: str, reason: str) -> None:
        """Count a submission that could not be graded, and show the first ones."""
        self.progress.count("ungraded")
        if self.progress.counts["ungraded"] <= MOST:
            self.say(f"  not graded ({exercise}): {label(reason)}")

    def on_written(
        self,
        out: str,
        students: int,
        ungraded: int,
        needs_person: int,
        left_over: tuple[str, ...],
        filled: tuple[str, ...] = (),
        waiting: tuple[str, ...] = (),
    ) -> None:
        """Show the end of a run."""
        self.say(self.progress.end())
        if needs_person:
            whose = "entry needs a person to say whose it is"
            whose = whose if needs_person == 1 else "entries need a person to say whose they are"
            self.say(f"{needs_person:,} {whose}. Until then there is no mark: see above.")
        if ungraded:
            self.say(f"{count_in_words(ungraded, 'hand-in')} could not be graded, so there is no mark. Grade again.")
        if left_over:
            folders = label(listed(left_over, 4))
            self.say(f"In {out} lie pages of an earlier run that count no more, for who has no mark now: {folders}")
        for line in filled:
            self.say(line)
        if waiting:
            self.say(f"{count_in_words(len(waiting), 'entry', 'entries')} without a mark until a person decides:")
            for line in waiting[:MOST]:
                self.say(f"  {line}")
            if len(waiting) > MOST:
                self.say(f"  … and {len(waiting) - MOST:,} more: ledger.csv begins with them.")
        self.say(f"What became of every file: {out}/ledger.csv")
        self.say(f"Results: {out}/grades.csv, {out}/class.html, {out}/<student>/feedback.html")

    def on_recorded(self, course: str, recorded: int, failed: dict[str, str]) -> None:
        """Show the end of a recording in nbgrader's gradebook. course: its name; failed: student → the reason."""
        if not recorded and not failed:
            return self.say("Nothing waits for autograding. All again, by the rules as they are now: FORCE=yes")
        self.say(self.progress.end())
        for student, reason in list(failed.items())[:MOST]:
            self.say(f"  {label(student)} still needs autograding: {label(reason)}")
        self.say(f"{count_in_words(recorded, 'submission')} recorded in the gradebook of {label(course)}.")

    def say(self, line: str) -> None:
        """Write one line, above the progress bar where there is one."""
        self.console.print(line)
        sys.stderr.flush()


def _plain(value: Any) -> Any:
    """A value of an event as plain data for JSON."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
