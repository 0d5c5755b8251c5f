"""The watch: shows one exercise at a time and grades it again on every save."""

from __future__ import annotations

import sys
import warnings

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import beside, checkout, hints, progress, side_by_side
from grader.desk.beside import Beside, DrawnPages, Request
from grader.desk.grading import GradingThread, Job, Watched
from grader.desk.main_page import View
from grader.desk.saves import SETTLE_S, Saves
from grader.desk.screen import (
    BACKSPACE,
    DRAWN,
    ENTER,
    ESCAPE,
    GRADED,
    QUIT,
    RESIZED,
    RESUMED,
    SAVED,
    Events,
    Screen,
)  # fmt: skip
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
        saves = Saves(paths.EXERCISES, lambda: events.put(SAVED), poll)
        beside = Beside(lambda request, page: events.put(DRAWN, (request, page)))
        grading = GradingThread(fork_server, lambda job, result: events.put(GRADED, (job, result)), where)
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
    """The state that is shown, and the effect of each event on it. What each key does is below, in KEYS."""

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
                press(self, value)
            elif kind == GRADED:
                self.show_verdict(*value)
            elif kind == DRAWN:
                self.show_drawn(*value)
            elif kind == RESIZED:
                self.draw()
            elif kind == RESUMED:
                self.resume()
            elif kind == QUIT:
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


def press(watch: Watch, key: str) -> None:
    """Do what one key stands for. On a page, every key that means nothing there leads back to the main page."""
    screen = watch.screen
    if screen.prompt is not None:
        type_search(watch, key)
    elif watch.confirming:
        watch.confirming, watch.note = False, ""
        if key == "y":
            watch.note = put_stub_back(watch.watched.exercise.folder)
            watch.grade_new_content()
        watch.draw()
    elif screen.pager.press(key):
        screen.write()
    elif key == "/":
        screen.prompt = ""
        screen.write()
    elif screen.pager.searched and key == ESCAPE:
        screen.pager.searched, screen.pager.found = "", None
        screen.write()
    elif watch.page is not None and key not in "nplsgqt":
        watch.main_page()
    elif key in KEYS:
        watch.note = ""
        KEYS[key](watch)


def type_search(watch: Watch, key: str) -> None:
    """A key while a text is typed to search for."""
    screen = watch.screen
    typed = screen.prompt or ""
    if key == ENTER:
        screen.prompt = None
        screen.pager.search(typed)
    elif key == ESCAPE:
        screen.prompt = None
    elif key == BACKSPACE:
        screen.prompt = typed[:-1]
    elif len(key) == 1 and key.isprintable():
        screen.prompt = typed + key
    screen.write()


def step(watch: Watch, by: int) -> None:
    """Open the next or the previous exercise. by: 1 or -1."""
    exercises = catalog.by_path()
    place = exercises.index(watch.watched.exercise) + by
    if 0 <= place < len(exercises):
        watch.open(exercises[place])
    else:
        watch.say("No exercise comes after this one. l: list" if by > 0 else "This is the first exercise.")


def hint(watch: Watch) -> None:
    """Show the next hint for the task that is shown, and none for another one."""
    task = watch.watched.task
    if task is None:
        watch.say("Every task is done: no hint is needed.")
        return
    folder = watch.watched.exercise.folder
    answer = hints.ask(folder, task.number)
    if answer.hint is None:
        again = f"make hint EX={folder[:2]} TASK={task.number} ALL=1"
        watch.say(f"You have seen every hint for task {task.number}. Again: {again}")
        return
    watch.hints = (answer.hint,)
    watch.say(f"{answer.left_of_task} more for this task, {answer.left} in all." if answer.left else "The last one.")


def toggle(watch: Watch) -> None:
    """Show every check, or again the first failure alone."""
    watch.every = not watch.every
    watch.main_page()


def solution(watch: Watch) -> None:
    """Show the reference, once the exercise was passed."""
    if not watch.watched.is_passed:
        watch.say("The solution opens once this exercise is passed.")
        return
    try:
        page = side_by_side.of(watch.watched.exercise.folder, watch.screen.console.width)
    except WrongUse as error:
        page = Text(str(error))
    watch.open_page([page])


def ask_to_reset(watch: Watch) -> None:
    """Ask whether to put the stub back."""
    watch.confirming = True
    watch.say("Put the fresh stub back? Your file is kept beside it. y: yes, any other key: no")


def put_stub_back(folder: str) -> str:
    """Put the stub back. Returns the message about it."""
    try:
        copy = checkout.reset(folder)
    except WrongUse as error:
        return str(error)
    return f"The fresh stub is back. Yours is kept: {paths.shown(copy)}" if copy else "The fresh stub is in place."


def overview(watch: Watch) -> None:
    """Show all exercises, a column for each track: one below the other they are longer than a terminal."""
    columns = Table.grid(padding=(0, 2))
    columns.add_row(*(Text(text, no_wrap=True) for text in progress.columns(progress.rows())))
    watch.open_page([columns])


def leave(watch: Watch) -> None:
    """End the watch."""
    watch.quitting = True


KEYS = {
    "n": lambda watch: step(watch, 1),
    "p": lambda watch: step(watch, -1),
    "h": hint,
    "t": lambda watch: watch.ask_beside(beside.TRY),
    "a": toggle,
    "g": lambda watch: watch.ask_beside(beside.PLOT),
    "s": solution,
    "r": ask_to_reset,
    "l": overview,
    "q": leave,
    "\x04": leave,
}
