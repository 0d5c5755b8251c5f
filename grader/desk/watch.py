"""The watch: one exercise at a time, graded again on every save, with one key for each thing to do."""

import secrets
import sys
import time
import warnings

from rich.console import RenderableType
from rich.text import Text

from grader import catalog, errors, paths, progress
from grader.desk import actions, hints, keyboard, lesson
from grader.desk.judge import Job, Judge
from grader.desk.keyboard import Events
from grader.desk.looking import PATIENCE_S, Eye
from grader.desk.saves import Saves
from grader.desk.screen import Screen, View
from grader.nursery import Nursery
from grader.report import terminal
from grader.results import PASSED, ExerciseResult

SLOW_S = 0.4  # a grading that takes longer is announced
NO_SANDBOX = "Your code runs without a sandbox (tier D). What would give one: make doctor"


def run(exercise: catalog.Exercise, poll: bool) -> int:
    """Watch from this exercise on, until the learner quits. Raises WrongUse where there is no terminal."""
    events = Events()
    warnings.simplefilter("ignore")  # they would be written into the page
    with Nursery() as nursery:
        saves = Saves(paths.EXERCISES, lambda: events.put(keyboard.SAVED), poll)
        judge = Judge(nursery, lambda job, result: events.put(keyboard.JUDGED, (job, result)))
        notes = (saves.note, NO_SANDBOX if nursery.tier.name == "D" else "")
        try:
            with events:
                Watch(events, judge, saves, notes).run(exercise)
        finally:
            saves.close()
            judge.close()
    return errors.PASSED


class Watch:
    """What is shown now, and what each event does to it."""

    def __init__(self, events: Events, judge: Judge, saves: Saves, notes: tuple[str, ...]):
        self.events, self.judge, self.saves, self.notes = events, judge, saves, notes
        # The file itself: while the solution runs in this process, prints are caught by another sys.stdout.
        self.screen = Screen(terminal.console(sys.stdout))
        self.over, self.awake, self.jobs, self.noted = False, False, 0, 0

    def run(self, exercise: catalog.Exercise) -> None:
        """Handle one event after the other until the learner quits."""
        self.open(exercise)
        while not self.over:
            kind, value = self.events.next(self.pause()) or (None, None)
            if kind == "key":
                self.press(value)
            elif kind == keyboard.JUDGED:
                self.show_verdict(*value)
            elif kind == keyboard.RESIZED:
                self.draw()
            elif kind == keyboard.RESUMED:
                self.resume()
            elif kind == keyboard.QUIT:
                self.over = True
            else:
                self.look()
                self.announce()

    def open(self, exercise: catalog.Exercise) -> None:
        """Show an exercise, and grade what is there. Its inputs stay the same until it is left."""
        self.exercise, self.seed = exercise, secrets.randbelow(1_000_000)
        self.eye = Eye(exercise)
        self.result: ExerciseResult | None = None
        self.job: Job | None = None
        self.page: list[RenderableType] | None = None  # instead of the main one
        self.hints: tuple[hints.Hint, ...] = ()
        self.asked_at: float | None = None
        self.when = self.note = self.status = ""
        self.every = self.asking = False
        self.done = progress.load().get(exercise.folder, progress.State()).done
        self.draw()
        self.look(attempt=False)

    def look(self, attempt: bool = True) -> None:
        """Grade the file if it holds something new."""
        look = self.eye.look(patient=attempt)
        if look is None:
            return
        self.note = self.status = ""
        if not look.is_there:
            self.job = self.result = self.asked_at = None
            self.note = f"{look.handed_in} Press r for the fresh stub."
            self.draw()
            return
        self.grade(attempt)

    def grade(self, attempt: bool) -> None:
        """Let the file that was seen last be graded."""
        self.jobs += 1
        name = paths.shown(paths.stub(self.exercise.folder))
        self.job = Job(self.jobs, self.exercise, self.eye.seen.handed_in, name, self.seed, attempt)
        self.asked_at = time.monotonic()
        self.judge.take(self.job)

    def show_verdict(self, job: Job, result: ExerciseResult | Exception) -> None:
        """Show a verdict, unless it is one on an older file. It comes again once its causes are known."""
        if job is not self.job:
            return
        again = self.noted == job.number
        if not again:
            self.asked_at, self.status, self.page, self.asking, self.awake = None, "", None, False, True
        if isinstance(result, Exception):
            self.result, self.note = None, f"The grader could not do its work: {result}"
            self.draw()
            return
        self.result, self.noted = result, job.number
        self.when = self.when if again else time.strftime("%H:%M:%S")
        if result.status == PASSED:
            self.done, self.hints = True, ()
        self.draw()
        progress.note(result, attempt=job.attempt and not again)

    def announce(self) -> None:
        """Say that a grading takes its time, once it does."""
        if self.awake and self.asked_at is not None and not self.status and time.monotonic() - self.asked_at > SLOW_S:
            self.status = "grading …"
            self.draw()

    def pause(self) -> float:
        """Seconds until one should look without being told."""
        if self.eye.doubts:
            return PATIENCE_S / 4
        return SLOW_S / 2 if self.asked_at is not None and not self.status else self.saves.pause

    def resume(self) -> None:
        """After Ctrl-Z: what ran meanwhile was cut short by the clock, so it is graded anew."""
        self.draw()
        if self.asked_at is not None:
            self.grade(self.job.attempt)

    def draw(self) -> None:
        """Draw what is shown now."""
        if self.page is not None:
            self.screen.draw([*self.page, Text(), Text("any key: back", "dim")])
            return
        every = catalog.exercises()
        place = every.index(self.exercise)
        after = every[place + 1] if place + 1 < len(every) else None
        self.screen.main(
            View(
                exercise=self.exercise,
                position=f"{place + 1} of {len(every)}",
                task=lesson.current(self.exercise.folder, self.result),
                result=self.result,
                when=self.when,
                every=self.every,
                done=self.done,
                hints=self.hints,
                status=self.status or ("" if self.awake or self.note else "The grader wakes up …"),
                note=self.note,
                following=f"{after.folder[:2]} {after.title}" if after else "",
                warnings=self.notes,
            )
        )

    # Keys.

    def press(self, key: str) -> None:
        """Do what one key asks for. Every other key leads back to the main page."""
        if self.asking:
            self.asking, self.note = False, ""
            if key == "y":
                self.note = actions.reset(self.exercise)
                self.look()
            self.draw()
        elif self.page is not None and key not in "nplsgq":
            self.page = None
            self.draw()
        elif key in KEYS:
            self.note = ""
            KEYS[key](self)

    def step(self, by: int) -> None:
        every = catalog.exercises()
        place = every.index(self.exercise) + by
        if 0 <= place < len(every):
            self.open(every[place])
        else:
            self.say("That was the last one." if by > 0 else "This is the first one.")

    def hint(self) -> None:
        answer = hints.ask(self.exercise.folder)
        if answer.hint is None:
            self.say("You have seen every hint for this exercise. All: make hint ALL=1")
            return
        self.hints = (answer.hint,)
        self.say(f"{answer.left_of_task} more for this task, {answer.left} in all." if answer.left else "The last one.")

    def toggle(self) -> None:
        self.every = not self.every
        self.draw()

    def plot(self) -> None:
        self.say("drawing …")
        self.note = ""
        self.open_page(actions.plot(self.exercise, self.screen.console.width))

    def solution(self) -> None:
        if not self.done:
            self.say("The solution opens once this exercise is passed.")
            return
        self.open_page(actions.solution(self.exercise, self.screen.console.width))

    def ask_to_reset(self) -> None:
        self.asking = True
        self.say("Put the fresh stub back? Your file is kept beside it. y: yes, any other key: no")

    def standings(self) -> None:
        self.open_page(actions.standings())

    def quit(self) -> None:
        self.over = True

    def open_page(self, page: list[RenderableType]) -> None:
        self.page = page
        self.draw()

    def say(self, note: str) -> None:
        self.page, self.note = None, note
        self.draw()


KEYS = {
    "n": lambda watch: watch.step(1),
    "p": lambda watch: watch.step(-1),
    "h": Watch.hint,
    "a": Watch.toggle,
    "g": Watch.plot,
    "s": Watch.solution,
    "r": Watch.ask_to_reset,
    "l": Watch.standings,
    "q": Watch.quit,
    "\x04": Watch.quit,
}
