"""The progress of the gradings of a run: a bar on a terminal, a line every ten percent in a pipe."""

import time
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.classroom.intake.tally import counted

STEP = 10  # percent between two lines where stderr is no terminal
FEWEST = 50  # gradings; a shorter run shows no such lines


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
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
            columns += TextColumn("{task.fields[rate]}"), TimeRemainingColumn(compact=True)
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
        return f"{counted(gradings, 'grading')}{rate}: {self.summary() or 'nothing to do'}."

    def end_bar(self) -> None:
        """Remove the progress bar, if there is one."""
        if self.bar:
            self.bar.stop()
            self.bar = None

    def summary(self) -> str:
        """The number of gradings by status, as text."""
        return ", ".join(f"{self.counts[name]} {name}" for name in sorted(self.counts))
