"""The watch: shows one exercise at a time and grades it again on every save."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import beside, checkout, ending, hints, lesson, progress, screen, side_by_side
from grader.desk.beside import Beside, DrawnPages, Request
from grader.desk.grading_thread import SETTLE_S, GradingThread, Job, Saves, Watched
from grader.desk.screen import (
    BACKSPACE,
    DOWN,
    DRAWN,
    END,
    ENTER,
    ESCAPE,
    GRADED,
    HOME,
    LEFT,
    PAGE_DOWN,
    PAGE_UP,
    QUIT,
    RESIZED,
    RESUMED,
    RIGHT,
    SAVED,
    UP,
    Events,
    Screen,
    View,
)  # fmt: skip
from grader.records.results import NOT_GRADED, ExerciseResult
from grader.records.submission import Unreadable
from grader.reports import terminal
from grader.sandbox.forkserver import ForkServer

SLOW_S = 0.4  # a grading that takes longer is announced
TWO_COLUMNS = 76  # the width from which the list has two
BACK = "any other key: back"
LESSON_KEYS = "e: {} · b: in the browser, with its figure · any other key: back"
LIST_KEYS = "↑ ↓ ← →: choose · Enter: open · any other key: back"
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
            beside.child.kill()
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
        self.page: list[RenderableType] | None = None  # shown instead of the main page
        self.back = ""  # what its foot says about keys
        self.chosen = ""  # the exercise that is marked in the list, while that is shown
        self.is_lesson = self.is_unfolded = False  # the page is the lesson; its answers are shown
        self.read_until: dict[str, int] = {}  # the first line that was seen of a lesson, by its folder

    def run(self, exercise: catalog.Exercise) -> None:
        """Handle one event after the other until the learner quits."""
        self.open(exercise)
        try:
            self._handle()
        finally:
            self.screen.close()

    def _handle(self) -> None:
        while not self.quitting:
            value: Any
            kind, value = self.events.next(self.pause()) or ("", None)
            if kind == "key":
                press(self, value)
            elif kind == GRADED:
                self.show_verdict(*value)
            elif kind == DRAWN:
                self.show_drawn(*value)
            elif kind == RESIZED and self.chosen:
                show_list(self)
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
        self.leave_page()
        self.watched = Watched(exercise, self.grading)
        self.hints: tuple[hints.Hint, ...] = ()
        self.note = self.status = ""
        self.every = self.confirming = False  # show every check; the next key confirms the reset
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
        assert isinstance(content.handed_in, Unreadable)
        self.note = f"{content.handed_in.reason}. Or press r."
        self.draw()

    def show_verdict(self, job: Job, result: ExerciseResult) -> None:
        """Show a verdict, unless a newer job replaced its own. It comes again with its likely causes and lines."""
        watched = self.watched
        if job is not watched.job:
            return
        if watched.is_first(job):
            self.status, self.graded_once = "", True
            if job.attempt:  # a save closes what is open; the first grading of an exercise does not
                self.confirming = False
                self.leave_page()
        if result.status == NOT_GRADED:
            watched.result, self.note = None, result.message
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
            self.watched.grade(self.watched.job is None or self.watched.job.attempt)

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
        self.screen.draw(self.page, [*lines, Text(self.back, "dim")])

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

    def open_page(self, page: list[RenderableType], back: str = BACK) -> None:
        """Show a page instead of the main one until a key is pressed. back: what its foot says about keys."""
        self.leave_page()
        self.page, self.back = page, back
        self.draw()

    def leave_page(self) -> None:
        """Show the main page from its head, once it is drawn. The place in a lesson is kept."""
        if self.is_lesson:
            self.read_until[self.watched.exercise.folder] = self.screen.pager.top
        self.page, self.chosen, self.is_lesson = None, "", False
        self.screen.pager.reset()

    def main_page(self) -> None:
        """Show the main page from its head."""
        self.leave_page()
        self.draw()

    def say(self, note: str) -> None:
        """Show a note on the main page."""
        if self.page is not None:
            self.leave_page()
        self.note = note
        self.draw()


def press(watch: Watch, key: str) -> None:
    """Do what one key stands for. On a page, every key that means nothing leads back to the main page."""
    screen = watch.screen
    if screen.prompt is not None:
        type_search(watch, key)
    elif watch.confirming:
        watch.confirming, watch.note = False, ""
        if key == "y":
            watch.note = put_stub_back(watch.watched.exercise.folder)
            watch.grade_new_content()
        watch.draw()
    elif watch.chosen and key in CHOOSING:
        choose(watch, key)
    elif watch.is_lesson and key == "e":
        read_lesson(watch, unfold=not watch.is_unfolded)
    elif screen.pager.press(key):
        screen.write()
    elif key == "/":
        screen.prompt = ""
        screen.write()
    elif screen.pager.searched and key == ESCAPE:
        screen.pager.searched, screen.pager.found = "", None
        screen.write()
    elif key in KEYS:
        watch.note = ""
        KEYS[key](watch)
    elif watch.page is not None:
        watch.main_page()


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
    """Open the next or the previous exercise; after a pass the next one that is open. by: 1 or -1."""
    if by > 0 and watch.watched.is_passed and (following := ending.open_exercise(watch.watched.exercise.folder)):
        watch.open(following)
        return
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


def train(watch: Watch) -> None:
    """Train the learner's own code for some seconds, once the exercise was passed and where it has a proof."""
    if watch.watched.is_passed and ending.proof(watch.watched.exercise.folder):
        watch.ask_beside(beside.TRAIN)
    else:
        watch.draw()


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


def read_lesson(watch: Watch, unfold: bool = False) -> None:
    """Show the lesson, from where it was left. unfold: with its answers."""
    folder = watch.watched.exercise.folder
    if watch.is_lesson:
        watch.read_until[folder] = watch.screen.pager.top
    top = watch.read_until.get(folder, 0)
    watch.open_page(
        lesson.for_terminal(folder, unfold), LESSON_KEYS.format("fold the answers" if unfold else "show the answers")
    )
    watch.is_lesson, watch.is_unfolded = True, unfold
    watch.screen.pager.top = top
    watch.screen.write()


def open_browser(watch: Watch) -> None:
    """Open the lesson with its figure in a browser."""
    watch.note = lesson.open_lesson(watch.watched.exercise.folder)
    watch.draw()


def list_exercises(watch: Watch) -> None:
    """Show all exercises, this one marked."""
    watch.leave_page()
    watch.back, watch.chosen = LIST_KEYS, watch.watched.exercise.folder
    show_list(watch)


def show_list(watch: Watch) -> None:
    """Draw the list, and scroll to the exercise that is marked."""
    columns = list_columns(watch)
    grid = Table.grid(padding=(0, 2))
    for number in range(max(map(len, columns))):
        cells = [column[number] if number < len(column) else ("", "") for column in columns]
        grid.add_row(
            *(
                Text(text, "reverse" if folder and folder == watch.chosen else "", no_wrap=True)
                for text, folder in cells
            )
        )
    watch.page = [grid]
    watch.draw()
    marked = next(column.index(line) for column in columns for line in column if line[1] == watch.chosen)
    if watch.screen.pager.reveal(marked):
        watch.screen.write()


def list_columns(watch: Watch) -> list[list[tuple[str, str]]]:
    """The lines of the list, by column."""
    return progress.columns(progress.rows(), 2 if watch.screen.console.width >= TWO_COLUMNS else 1)


def choose(watch: Watch, key: str) -> None:
    """A key in the list: mark another exercise, or open the one that is marked."""
    if key == ENTER:
        watch.open(catalog.find(watch.chosen))
        return
    columns = list_columns(watch)
    order = [[folder for _, folder in column if folder] for column in columns]
    lines = [{folder: number for number, (_, folder) in enumerate(column) if folder} for column in columns]
    side = next(number for number, folders in enumerate(order) if watch.chosen in folders)
    if key in (LEFT, RIGHT):
        other = max(0, min(side + (1 if key == RIGHT else -1), len(order) - 1))
        line = lines[side][watch.chosen]
        watch.chosen = min(lines[other], key=lambda folder: abs(lines[other][folder] - line))
    else:
        every = [folder for folders in order for folder in folders]
        by = {UP: -1, DOWN: 1, PAGE_UP: -8, PAGE_DOWN: 8, HOME: -len(every), END: len(every)}[key]
        watch.chosen = every[max(0, min(every.index(watch.chosen) + by, len(every) - 1))]
    show_list(watch)


def show_keys(watch: Watch) -> None:
    """Show all keys, each with what it does."""
    watch.open_page([screen.all_keys()])


def leave(watch: Watch) -> None:
    """End the watch."""
    watch.quitting = True


CHOOSING = (UP, DOWN, LEFT, RIGHT, PAGE_UP, PAGE_DOWN, HOME, END, ENTER)
KEYS = {
    "o": read_lesson,
    "b": open_browser,
    "n": lambda watch: step(watch, 1),
    "p": lambda watch: step(watch, -1),
    "h": hint,
    "t": lambda watch: watch.ask_beside(beside.TRY),
    "a": toggle,
    "g": lambda watch: watch.ask_beside(beside.PLOT),
    "e": train,
    "s": solution,
    "r": ask_to_reset,
    "l": list_exercises,
    "?": show_keys,
    "q": leave,
    "\x04": leave,
}
