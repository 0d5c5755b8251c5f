"""The watch: shows one exercise at a time and grades it again on every save."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader import catalog
from grader.catalog import errors, paths
from grader.desk import beside, ending, hints, lesson, progress, screen
from grader.desk.beside import Beside, Request
from grader.desk.grading_thread import READ_S, SETTLE_S, Absent, GradingThread, Job, Watched, listen
from grader.desk.screen import Events, Screen
from grader.records.results import NOT_GRADED, ExerciseResult
from grader.reports import terminal
from grader.sandbox.forkserver import ForkServer

SLOW_S = 0.4  # a grading that takes longer is announced
LIST_PAGE = 8  # lines of the list that PgUp and PgDn pass over
BACK = "q: quit · other keys: back"
LESSON_KEYS = "e: the next answer · b: in a browser, with figure · " + BACK
LIST_KEYS = "↑ ↓: choose · Enter: open · " + BACK
NO_SANDBOX = "Your code runs without a sandbox (tier D). What would give one: make doctor"


def run(exercise: catalog.Exercise) -> int:
    """Watch from this exercise on, until the learner quits. Raises WrongUse where there is no terminal."""
    events = Events()
    warnings.simplefilter("ignore")  # they would be written into the page
    with ForkServer() as fork_server:
        stop = threading.Event()
        saves = (paths.EXERCISES, lambda: events.put(screen.SAVED), stop)
        threading.Thread(target=listen, args=saves, daemon=True).start()
        beside = Beside(lambda request, page: events.put(screen.DRAWN, (request, page)))
        grading = GradingThread(fork_server, lambda job, result: events.put(screen.GRADED, (job, result)))
        notes = (NO_SANDBOX if fork_server.tier.name == "D" else "", "" if progress.is_kept() else progress.NOT_KEPT)
        try:
            with events:
                Watch(events, grading, beside, notes).run(exercise)
        finally:
            beside.close()
            stop.set()
            grading.close()
    return errors.PASSED


class Watch:
    """The state that is shown, and the effect of each event on it. What each key does is below, in KEYS."""

    def __init__(self, events: Events, grading: GradingThread, beside: Beside, warnings: tuple[str, ...]) -> None:
        self.events, self.grading, self.beside, self.warnings = events, grading, beside, warnings
        # This sys.stdout, because another one replaces it while the solution runs in this process.
        self.screen = Screen(terminal.console(sys.stdout))
        self.quitting = False
        self.confirming = False  # the next key confirms the reset
        self.page: list[RenderableType] | None = None  # shown instead of the main page
        self.back = ""  # what its foot says about keys
        self.chosen = ""  # the exercise that is marked in the list, while that is shown
        self.unfolded: set[int] = set()  # which answers of a lesson are shown, counted from its head
        self.read_until: dict[str, int] = {}  # the first line that was seen of a lesson, by its folder

    @property
    def is_lesson(self) -> bool:
        """Whether the page is the lesson."""
        return self.back == LESSON_KEYS

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
        elif kind == screen.RESIZED:
            self.draw()
        elif kind == screen.RESUMED:
            self.resume()
        elif kind == screen.QUIT:
            self.quitting = True
        else:
            self.grade_new_content()
            if self.beside.waiting or self.watched.seconds > SLOW_S:
                self.draw()

    def open(self, exercise: catalog.Exercise) -> None:
        """Show an exercise and grade its file."""
        self.leave_page()
        self.watched, self.confirming = Watched(exercise, self.grading), False
        self.draw()
        self.grade_new_content(attempt=False)

    def grade_new_content(self, attempt: bool = True) -> None:
        """Grade the file if its content is new."""
        watched, handed_in = self.watched, self.watched.file.read_new(settle=attempt)
        if handed_in is None:
            return
        watched.note = ""
        if isinstance(handed_in, Absent):
            watched.job = watched.result = watched.submitted_at = None
            watched.note = f"{handed_in.reason}. Or press r."
            self.draw()
        else:
            watched.grade(attempt)

    def show_verdict(self, job: Job, result: ExerciseResult) -> None:
        """Show a verdict, unless a newer job replaced its own. It comes again with its likely causes and lines."""
        watched = self.watched
        if job is not watched.job:
            return
        if watched.is_first(job) and job.attempt and not self.chosen:  # a save closes what is open
            self.confirming = False
            self.leave_page()
        if result.status == NOT_GRADED:
            watched.result, watched.note = None, result.message
        else:
            watched.take(job, result)
        self.draw()

    def pause(self) -> float:
        """Seconds until the file should be read even without an event."""
        return SETTLE_S / 4 if self.watched.file.doubtful else READ_S

    def resume(self) -> None:
        """After Ctrl-Z: grade again, because a time limit may have ended what was running."""
        self.draw()
        if self.watched.submitted_at is not None:
            self.watched.grade(self.watched.job is None or self.watched.job.attempt)

    def draw(self) -> None:
        """Draw what is shown now."""
        note, doing = self.watched.note, self.beside.words
        if self.page is None:
            lines = (*self.warnings, note, doing or "grading …" * (self.watched.seconds > SLOW_S))
            self.screen.main(self.watched, lines, keys(self.watched))
            return
        if self.chosen:
            listed = progress.listed()
            self.page = [Text(text, "reverse" * (folder == self.chosen), no_wrap=True) for text, folder in listed]
        self.screen.draw(self.page, [*screen.yellow(note, doing), Text(self.back, "dim")])
        if self.chosen and self.screen.pager.reveal([folder for _, folder in listed].index(self.chosen)):
            self.screen.write()

    def ask_beside(self, kind: str) -> None:
        """Ask for a page that another process makes."""
        self.beside.ask(Request(kind, self.watched.exercise.folder, self.screen.console.width))
        self.draw()

    def show_drawn(self, request: Request, text: str) -> None:
        """Show a page that was made, unless something else is shown by now, or what was done in a note."""
        if request.verb in beside.NOTES:
            self.grade_new_content()  # which clears the note
            self.watched.note = text.strip()
            self.draw()
        elif request.folder == self.watched.exercise.folder and self.page is None and not self.confirming:
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
        self.page, self.back, self.chosen = None, "", ""
        self.screen.pager.top = 0

    def main_page(self, note: str = "") -> None:
        """Show the main page from its head, with a note."""
        self.leave_page()
        self.watched.note = note
        self.draw()


def press(watch: Watch, key: str) -> None:
    """Do what one key stands for. On a page, every key that means nothing leads back to the main page."""
    pager = watch.screen.pager
    if watch.confirming:
        watch.confirming, watch.watched.note = False, ""
        watch.ask_beside(beside.RESET) if key == "y" else watch.draw()
    elif watch.chosen and key == screen.ENTER:
        watch.open(catalog.find(watch.chosen))
    elif watch.chosen and (by := screen.step(key, LIST_PAGE, len(catalog.exercises()))):
        every = [exercise.folder for exercise in catalog.exercises()]
        watch.chosen = every[max(0, min(every.index(watch.chosen) + by, len(every) - 1))]
        watch.draw()
    elif watch.is_lesson and key == "e":
        unfold(watch)
    elif pager.press(key):
        watch.screen.write()
    elif key in KEYS:
        watch.watched.note = ""
        _, _, what = KEYS[key]
        watch.ask_beside(what) if isinstance(what, str) else what(watch)
    elif watch.page is not None:
        watch.main_page()


def following(watch: Watch) -> None:
    """Open the next exercise that is open."""
    if found := ending.open_exercise(watch.watched.exercise.folder):
        watch.open(found)
    else:
        watch.main_page("No other exercise is open. l: list")


def hint(watch: Watch) -> None:
    """Show the next hint for the task that is shown, and none for another one."""
    folder, task = watch.watched.exercise.folder, watch.watched.task
    answer = hints.ask(folder, task.number) if task else hints.Answer(None, 0)
    watch.watched.hint = answer.hint or watch.watched.hint
    watch.main_page(hints.note(folder, answer))


def toggle(watch: Watch) -> None:
    """Show every check, or again the causes only."""
    watch.watched.every = not watch.watched.every
    watch.main_page()


def ask_to_reset(watch: Watch) -> None:
    """Ask whether to put the stub back."""
    watch.confirming = True
    watch.main_page("Put the fresh stub back? Your file is kept beside it. y: yes, any other key: no")


def read_lesson(watch: Watch) -> None:
    """Show the lesson, from where it was left."""
    folder = watch.watched.exercise.folder
    if not watch.is_lesson:
        watch.unfolded = set()
    markdown = lesson.text(folder) or f"There is no file {paths.shown(paths.lesson(folder))}."
    watch.open_page([lesson.render(markdown, watch.unfolded)], LESSON_KEYS)
    watch.screen.pager.top = watch.read_until.get(folder, 0)
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


def list_exercises(watch: Watch) -> None:
    """Show all exercises, this one marked."""
    watch.leave_page()
    watch.page, watch.back, watch.chosen = [], LIST_KEYS, watch.watched.exercise.folder
    watch.draw()


def show_keys(watch: Watch) -> None:
    """Show all keys, each with what it does."""
    table = Table.grid(padding=(0, 2))
    for key, (name, words, _) in KEYS.items():
        table.add_row(Text(key, "bold cyan"), Text(name), Text(words, "dim"))
    table.add_row()
    for key, words in MORE_KEYS.items():
        table.add_row(Text(key, "bold cyan"), Text(), Text(words, "dim"))
    watch.open_page([table])


def leave(watch: Watch) -> None:
    """End the watch."""
    watch.quitting = True


def keys(watched: Watched) -> Text:
    """The keys that are always in sight, with their names. One that does nothing now is dim."""
    text = Text("  ".join(f"{key} {KEYS[key][0]}" for key in FOOT), "dim")
    for key in FOOT:
        if key != "s" or watched.is_passed:
            text.highlight_regex(rf"(?<!\S){re.escape(key)}(?= )", "bold not dim cyan")
    return text


# Each with its name, what `?` says about it, and what it does: a function, or the page that another process makes.
KEYS: dict[str, tuple[str, str, Callable[[Watch], None] | str]] = {
    "o": ("lesson", "the lesson, here in the terminal", read_lesson),
    "b": ("browser", "the lesson with its figure, in your browser", beside.FIGURE),
    "h": ("hint", "the next hint for the task that is shown", hint),
    "t": ("try", "the lesson's example calls on your file, your numbers beside the lesson's", beside.TRY),
    "g": ("plot", "pictures: your attention weights beside the expected ones", beside.PLOT),
    "a": ("all", "every check in full, and back", toggle),
    "w": ("train", "after a pass: watch your own code learn something, where it can", beside.TRAIN),
    "s": ("solution", "the reference beside your file, once you have passed", beside.SOLUTION),
    "n": ("next", "the next exercise that you have not passed", following),
    "l": ("list", "all exercises: choose with the arrows, open with Enter", list_exercises),
    "r": ("reset", "the fresh stub; it asks first, and your file is kept", ask_to_reset),
    "?": ("keys", "this page", show_keys),
    "q": ("quit", "end the watch; so does Ctrl-C", leave),
}
FOOT = "ohtgsnl?q"  # the keys that are always in sight
MORE_KEYS = {
    "↑ ↓ PgUp PgDn": "scroll what is longer than the screen; Home and End go to its ends",
    "e": "in the lesson: shows the next answer",
    "Ctrl-Z": "stops the watch, and fg goes on",
}
