"""The watch: shows one exercise at a time and grades it again on every save."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import beside, checkout, ending, hints, lesson, progress, screen
from grader.desk import solution as reference
from grader.desk.beside import Beside, Request
from grader.desk.grading_thread import SETTLE_S, GradingThread, Job, Saves, Watched
from grader.desk.screen import Events, Screen, View
from grader.records.results import NOT_GRADED, ExerciseResult
from grader.records.submission import Unreadable
from grader.reports import terminal
from grader.sandbox.forkserver import ForkServer

SLOW_S = 0.4  # a grading that takes longer is announced
LIST_PAGE = 8  # lines of the list that PgUp and PgDn pass over
BACK = "any other key: back"
LESSON_KEYS = "e: the next answer · b: in the browser, with its figure · any other key: back"
LIST_KEYS = "↑ ↓: choose · Enter: open · any other key: back"
NO_SANDBOX = "Your code runs without a sandbox (tier D). What would give one: make doctor"


def run(exercise: catalog.Exercise, poll: bool, where: bool = True) -> int:
    """Watch from this exercise on, until the learner quits. Raises WrongUse where there is no terminal.

    where: look for the lines of mistakes too.
    """
    events = Events()
    warnings.simplefilter("ignore")  # they would be written into the page
    with ForkServer() as fork_server:
        saves = Saves(paths.EXERCISES, lambda: events.put(screen.SAVED), poll)
        beside = Beside(lambda request, page: events.put(screen.DRAWN, (request, page)))
        grading = GradingThread(fork_server, lambda job, result: events.put(screen.GRADED, (job, result)), where)
        notes = (NO_SANDBOX if fork_server.tier.name == "D" else "", "" if progress.is_kept() else progress.NOT_KEPT)
        try:
            with events:
                Watch(events, grading, saves, beside, notes).run(exercise)
        finally:
            beside.close()
            saves.close()
            grading.close()
    return errors.PASSED


class Watch:
    """The state that is shown, and the effect of each event on it. What each key does is below, in KEYS."""

    def __init__(
        self, events: Events, grading: GradingThread, saves: Saves, beside: Beside, warnings: tuple[str, ...]
    ) -> None:
        self.events, self.grading, self.saves, self.beside, self.warnings = events, grading, saves, beside, warnings
        # This sys.stdout, because another one replaces it while the solution runs in this process.
        self.screen = Screen(terminal.console(sys.stdout))
        self.quitting = self.graded_once = False
        self.page: list[RenderableType] | None = None  # shown instead of the main page
        self.back = ""  # what its foot says about keys
        self.chosen = ""  # the exercise that is marked in the list, while that is shown
        self.is_lesson = False  # the page is the lesson
        self.unfolded: set[int] = set()  # which of its answers are shown, counted from its head
        self.read_until: dict[str, int] = {}  # the first line that was seen of a lesson, by its folder

    def run(self, exercise: catalog.Exercise) -> None:
        """Handle one event after the other until the learner quits."""
        self.open(exercise)
        try:
            while not self.quitting:
                self.handle(*(self.events.next(self.pause()) or ("", None)))
        finally:
            self.screen.close()

    def handle(self, kind: str, value: Any) -> None:
        """Handle one event; without any, look at the file and the time."""
        if kind == "key":
            press(self, value)
        elif kind == screen.GRADED:
            self.show_verdict(*value)
        elif kind == screen.DRAWN:
            self.show_drawn(*value)
        elif kind == screen.RESIZED and self.chosen:
            show_list(self)
        elif kind == screen.RESIZED:
            self.draw()
        elif kind == screen.RESUMED:
            self.resume()
        elif kind == screen.QUIT:
            self.quitting = True
        else:
            self.grade_new_content()
            self.announce()

    def open(self, exercise: catalog.Exercise) -> None:
        """Show an exercise and grade its file."""
        self.leave_page()
        self.watched = Watched(exercise, self.grading)
        self.hint: hints.Hint | None = None
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
            if job.attempt and not self.chosen:  # a save closes what is open; the first grading of an exercise does not
                self.confirming = False
                self.leave_page()
        if result.status == NOT_GRADED:
            watched.result, self.note = None, result.message
            self.draw()
            return
        watched.take(job, result)
        if self.hint and (not watched.task or self.hint.task != watched.task.number):
            self.hint = None  # that task is done
        if self.chosen:
            show_list(self)
        else:
            self.draw()

    def announce(self) -> None:
        """Show that a grading is in progress, once it takes longer than usual."""
        if self.graded_once and not self.status and self.watched.seconds > SLOW_S:
            self.status = "grading …"
            self.draw()
        elif self.beside.waiting:
            self.draw()

    def pause(self) -> float:
        """Seconds until the file should be read even without an event."""
        if self.watched.file.is_settling:
            return SETTLE_S / 4
        if self.beside.waiting:
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
            status = self.beside.words or self.status or waking
            self.screen.main(View(self.watched, self.every, self.hint, status, self.note, self.warnings))
            return
        lines = [Text(text, "yellow") for text in (self.note, self.beside.words) if text]
        self.screen.draw(self.page, [*lines, Text(self.back, "dim")])

    def ask_beside(self, kind: str) -> None:
        """Ask for a page that another process makes."""
        self.beside.ask(Request(kind, self.watched.exercise.folder, self.screen.console.width))
        self.draw()

    def show_drawn(self, request: Request, text: str) -> None:
        """Show a page that was made, unless something else is shown by now."""
        if request.folder == self.watched.exercise.folder and self.page is None and not self.confirming:
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
        self.screen.pager.top = 0

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
    pager = watch.screen.pager
    if watch.confirming:
        watch.confirming, watch.note = False, ""
        if key == "y":
            watch.note = put_stub_back(watch.watched.exercise.folder)
            watch.grade_new_content()
        watch.draw()
    elif watch.chosen and key == screen.ENTER:
        watch.open(catalog.find(watch.chosen))
    elif watch.chosen and (by := screen.step(key, LIST_PAGE, len(catalog.exercises()))):
        choose(watch, by)
    elif watch.is_lesson and key == "e":
        unfold(watch)
    elif pager.press(key):
        watch.screen.write()
    elif key in KEYS:
        watch.note = ""
        KEYS[key](watch)
    elif watch.page is not None:
        watch.main_page()


def following(watch: Watch) -> None:
    """Open the next exercise that is open."""
    found = ending.open_exercise(watch.watched.exercise.folder)
    if found is None:
        watch.say("No other exercise is open. l: list")
    else:
        watch.open(found)


def previous(watch: Watch) -> None:
    """Open the exercise before this one."""
    exercises = catalog.exercises()
    place = exercises.index(watch.watched.exercise)
    if place == 0:
        watch.say("This is the first exercise.")
    else:
        watch.open(exercises[place - 1])


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
    watch.hint = answer.hint
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
        page = reference.page(watch.watched.exercise.folder, watch.screen.console.width)
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


def read_lesson(watch: Watch) -> None:
    """Show the lesson, from where it was left."""
    folder = watch.watched.exercise.folder
    if watch.is_lesson:
        watch.read_until[folder] = watch.screen.pager.top
    else:
        watch.unfolded = set()
    top = watch.read_until.get(folder, 0)
    watch.open_page(lesson.for_terminal(folder, watch.unfolded), LESSON_KEYS)
    watch.is_lesson = True
    watch.screen.pager.top = top
    watch.screen.write()


def unfold(watch: Watch) -> None:
    """Show the first answer that is folded, from the head of what is seen on."""
    pager = watch.screen.pager
    folds = [line for line, text in enumerate(pager.lines) if lesson.FOLD.match(Text.from_ansi(text).plain)]
    closed = [place for place, line in enumerate(folds) if line >= pager.top and place not in watch.unfolded]
    if closed:
        before = len(pager.lines)
        watch.unfolded.add(closed[0])
        read_lesson(watch)
        answer = len(pager.lines) - before  # lines, of which as many are shown as there is room for
        if pager.reveal(folds[closed[0]] + min(answer, pager.room - 1)):
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
    lines = progress.listed()
    watch.page = [Text(text, "reverse" if folder == watch.chosen else "", no_wrap=True) for text, folder in lines]
    watch.draw()
    if watch.screen.pager.reveal([folder for _, folder in lines].index(watch.chosen)):
        watch.screen.write()


def choose(watch: Watch, by: int) -> None:
    """Mark the exercise so many lines below the one that is marked in the list."""
    every = [exercise.folder for exercise in catalog.exercises()]
    watch.chosen = every[max(0, min(every.index(watch.chosen) + by, len(every) - 1))]
    show_list(watch)


def show_keys(watch: Watch) -> None:
    """Show all keys, each with what it does."""
    watch.open_page([screen.all_keys()])


def leave(watch: Watch) -> None:
    """End the watch."""
    watch.quitting = True


KEYS = {
    "o": read_lesson,
    "b": open_browser,
    "n": following,
    "p": previous,
    "h": hint,
    "t": lambda watch: watch.ask_beside(beside.TRY),
    "a": toggle,
    "g": lambda watch: watch.ask_beside(beside.PLOT),
    "w": train,
    "s": solution,
    "r": ask_to_reset,
    "l": list_exercises,
    "?": show_keys,
    "q": leave,
    "\x04": leave,
}
