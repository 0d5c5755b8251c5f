"""The keys of the watch: the effect of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import catalog
from grader.desk import actions, hints

if TYPE_CHECKING:
    from grader.desk.watch import Watch


def press(watch: Watch, key: str) -> None:
    """Do what one key stands for. Every other key leads back to the main page."""
    if watch.confirming:
        watch.confirming, watch.note = False, ""
        if key == "y":
            watch.note = actions.reset(watch.exercise)
            watch.grade_new_content()
        watch.draw()
    elif watch.page is not None and key not in "nplsgq":
        watch.page = None
        watch.draw()
    elif key in KEYS:
        watch.note = ""
        KEYS[key](watch)


def step(watch: Watch, by: int) -> None:
    """Open the next or the previous exercise. by: 1 or -1."""
    exercises = catalog.exercises()
    place = exercises.index(watch.exercise) + by
    if 0 <= place < len(exercises):
        watch.open(exercises[place])
    else:
        watch.say("That was the last one." if by > 0 else "This is the first one.")


def hint(watch: Watch) -> None:
    """Show the next hint."""
    answer = hints.ask(watch.exercise.folder)
    if answer.hint is None:
        watch.say("You have seen every hint for this exercise. All: make hint ALL=1")
        return
    watch.hints = (answer.hint,)
    watch.say(f"{answer.left_of_task} more for this task, {answer.left} in all." if answer.left else "The last one.")


def toggle(watch: Watch) -> None:
    """Show every check, or again the first failure alone."""
    watch.every = not watch.every
    watch.draw()


def plot(watch: Watch) -> None:
    """Show the pictures."""
    watch.say("drawing …")
    watch.note = ""
    watch.open_page(actions.plot(watch.exercise, watch.screen.console.width))


def solution(watch: Watch) -> None:
    """Show the reference, once the exercise was passed."""
    if not watch.is_passed:
        watch.say("The solution opens once this exercise is passed.")
        return
    watch.open_page(actions.solution(watch.exercise, watch.screen.console.width))


def ask_to_reset(watch: Watch) -> None:
    """Ask whether to put the stub back."""
    watch.confirming = True
    watch.say("Put the fresh stub back? Your file is kept beside it. y: yes, any other key: no")


def overview(watch: Watch) -> None:
    """Show all exercises."""
    watch.open_page(actions.all_exercises())


def leave(watch: Watch) -> None:
    """End the watch."""
    watch.quitting = True


KEYS = {
    "n": lambda watch: step(watch, 1),
    "p": lambda watch: step(watch, -1),
    "h": hint,
    "a": toggle,
    "g": plot,
    "s": solution,
    "r": ask_to_reset,
    "l": overview,
    "q": leave,
    "\x04": leave,
}
