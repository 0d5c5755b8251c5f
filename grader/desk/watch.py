"""The watch: shows one exercise at a time and grades it again on every save."""

import sys
import warnings

from rich.console import RenderableType
from rich.text import Text

from grader import catalog
from grader.catalog import errors, paths
from grader.desk import hints, keyboard, keys
from grader.desk.beside import Beside, DrawnPages, Request
from grader.desk.grading import GradingThread, Job
from grader.desk.keyboard import Events
from grader.desk.main_page import View
from grader.desk.saves import Saves
from grader.desk.screen import Screen
from grader.desk.stable_file import SETTLE_S
from grader.desk.watched import Watched
from grader.records.results import ExerciseResult
from grader.reports import terminal
from grader.sandbox.forkserver import ForkServer

SLOW_S = 0.4  # a grading that takes longer is announced
NO_SANDBOX = "Your code runs without a sandbox (tier D). What would give one: make doctor"


def run(exercise: catalog.Exercise, poll: bool, where: bool = True) -> int:
    """Watch from this exercise on, until the learner quits. Raises WrongUse where there is no terminal.

    where: look for the lines of mistakes too.
    """
    events = Events()
    warnings.simplefilter("ignore")  # they would be written into the page
    with ForkServer() as fork_server:
        saves = Saves(paths.EXERCISES, lambda: events.put(keyboard.SAVED), poll)
        beside = Beside(lambda request, page: events.put(keyboard.DRAWN, (request, page)))
        grading = GradingThread(fork_server, lambda job, result: events.put(keyboard.GRADED, (job, result)), where)
        notes = (saves.note, NO_SANDBOX if fork_server.tier.name == "D" else "")
        try:
            with events:
                Watch(events, grading, saves, DrawnPages(beside), notes).run(exercise)
        finally:
            beside.close()
            saves.close()
            grading.close()
    return errors.PASSED


class Watch:
    """The state that is shown, and the effect of each event on it. keys.py has the effects of the keys."""

    def __init__(
        self, events: Events, grading: GradingThread, saves: Saves, drawn: DrawnPages, warnings: tuple[str, ...]
    ) -> None:
        self.events, self.grading, self.saves, self.drawn, self.warnings = events, grading, saves, drawn, warnings
        # This sys.stdout, because another one replaces it while the solution runs in this process.
        self.screen = Screen(terminal.console(sys.stdout))
        self.quitting = self.graded_once = False

    def run(self, exercise: catalog.Exercise) -> None:
        """Handle one event after the other until the learner quits."""
        self.open(exercise)
        while not self.quitting:
            kind, value = self.events.next(self.pause()) or (None, None)
            if kind == "key":
                keys.press(self, value)
            elif kind == keyboard.GRADED:
                self.show_verdict(*value)
            elif kind == keyboard.DRAWN:
                self.show_drawn(*value)
            elif kind == keyboard.RESIZED:
                self.draw()
            elif kind == keyboard.RESUMED:
                self.resume()
            elif kind == keyboard.QUIT:
                self.quitting = True
            else:
                self.grade_new_content()
                self.announce()

    def open(self, exercise: catalog.Exercise) -> None:
        """Show an exercise and grade its file."""
        self.watched = Watched(exercise, self.grading)
        self.page: list[RenderableType] | None = None  # shown instead of the main page
        self.hints: tuple[hints.Hint, ...] = ()
        self.note = self.status = ""
        self.every = self.confirming = False  # show every check; the next key confirms the reset
        self.screen.pager.reset()
        self.draw()
        self.grade_new_content(attempt=False)

    def grade_new_content(self, attempt: bool = True) -> None:
        """Grade the file if its content is new."""
        content = self.watched.file.read_new(settle=attempt)
        if content is None:
            return
        self.note = self.status = ""
        if content.is_there:
            self.watched.grade(attempt)
            return
        self.watched.forget()
        self.note = f"{content.submission}. Or press r."
        self.draw()

    def show_verdict(self, job: Job, result: ExerciseResult | Exception) -> None:
        """Show a verdict, unless a newer job replaced its own. It comes a second time with its likely causes."""
        watched = self.watched
        if job is not watched.job:
            return
        if watched.is_first(job):
            self.status, self.graded_once = "", True
            if job.attempt:  # a save closes what is open; the first grading of an exercise does not
                self.page, self.confirming = None, False
                self.screen.pager.reset()
        if isinstance(result, Exception):
            watched.result, self.note = None, f"The grader could not do its work: {result}"
            self.draw()
            return
        watched.take(job, result)
        if not watched.task or any(hint.task != watched.task.number for hint in self.hints):
            self.hints = ()  # that task is done
        self.draw()

    def announce(self) -> None:
        """Show that a grading is in progress, once it takes longer than usual."""
        if self.graded_once and not self.status and self.watched.seconds > SLOW_S:
            self.status = "grading …"
            self.draw()
        elif self.drawn.beside.waiting:
            self.drawn.beside.give_up_late()
            self.draw()

    def pause(self) -> float:
        """Seconds until the file should be read even without an event."""
        if self.watched.file.is_settling:
            return SETTLE_S / 4
        if self.drawn.beside.waiting:
            return SLOW_S
        return SLOW_S / 2 if self.watched.submitted_at is not None and not self.status else self.saves.pause

    def resume(self) -> None:
        """After Ctrl-Z: grade again, because a time limit may have ended what was running."""
        self.draw()
        if self.watched.submitted_at is not None:
            self.watched.grade(self.watched.job.attempt)

    def draw(self) -> None:
        """Draw what is shown now."""
        if self.page is None:
            waking = "" if self.graded_once or self.note else "The grader wakes up …"
            status = self.drawn.words or self.status or waking
            self.screen.main(
                View.of(self.watched, self.every, self.hints, status=status, note=self.note, warnings=self.warnings)
            )
            return
        lines = [Text(text, "yellow") for text in (self.note, self.drawn.words) if text]
        self.screen.draw(self.page, [*lines, Text("any other key: back", "dim")])

    def ask_beside(self, kind: str) -> None:
        """Show a page that another process makes, at once where it was made for the file as it is."""
        watched = self.watched
        text = self.drawn.page(kind, watched.exercise.folder, watched.file.source, self.screen.console)
        if text:
            self.open_page([Text.from_ansi(text, no_wrap=True, overflow="ignore")])
        else:
            self.draw()

    def show_drawn(self, request: Request, text: str) -> None:
        """Show a page that was drawn, or say that it is there where something else is shown by now."""
        self.note = self.drawn.keep(request, text)
        if request.folder == self.watched.exercise.folder and self.page is None and not self.confirming:
            self.note = ""
            self.open_page([Text.from_ansi(text, no_wrap=True, overflow="ignore")])
        else:
            self.draw()

    def open_page(self, page: list[RenderableType]) -> None:
        """Show a page instead of the main one until a key is pressed."""
        self.page = page
        self.screen.pager.reset()
        self.draw()

    def main_page(self) -> None:
        """Show the main page from its head."""
        self.page = None
        self.screen.pager.reset()
        self.draw()

    def say(self, note: str) -> None:
        """Show a note on the main page."""
        self.page, self.note = None, note
        self.draw()
