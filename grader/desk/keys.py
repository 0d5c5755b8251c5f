"""The keys of the watch: the effect of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import catalog
from grader.desk import actions, beside, hints, keyboard

if TYPE_CHECKING:
    from grader.desk.watch import Watch


def press(watch: Watch, key: str) -> None:
    """Do what one key stands for. On a page, every key that means nothing there leads back to the main page."""
    screen = watch.screen
    if screen.prompt is not None:
        type_search(watch, key)
    elif watch.confirming:
        watch.confirming, watch.note = False, ""
        if key == "y":
            watch.note = actions.reset(watch.watched.exercise)
            watch.grade_new_content()
        watch.draw()
    elif screen.pager.press(key):
        screen.write()
    elif key == "/":
        screen.prompt = ""
        screen.write()
    elif screen.pager.searched and key == keyboard.ESCAPE:
        screen.pager.searched, screen.pager.found = "", None
        screen.write()
    elif watch.page is not None and key not in "nplsgqt":
        watch.main_page()
    elif key in KEYS:
        watch.note = ""
        KEYS[key](watch)


def type_search(watch: Watch, key: str) -> None:
    """A key while a text is typed that shall be searched for."""
    screen = watch.screen
    typed = screen.prompt or ""
    if key == keyboard.ENTER:
        screen.prompt = None
        screen.pager.search(typed)
    elif key == keyboard.ESCAPE:
        screen.prompt = None
    elif key == keyboard.BACKSPACE:
        screen.prompt = typed[:-1]
    elif len(key) == 1 and key.isprintable():
        screen.prompt = typed + key
    screen.write()


def step(watch: Watch, by: int) -> None:
    """Open the next or the previous exercise. by: 1 or -1."""
    exercises = catalog.exercises()
    place = exercises.index(watch.watched.exercise) + by
    if 0 <= place < len(exercises):
        watch.open(exercises[place])
    else:
        watch.say("That was the last one." if by > 0 else "This is the first one.")


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
    watch.open_page(actions.solution(watch.watched.exercise, watch.screen.console.width))


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
    "t": lambda watch: watch.ask_beside(beside.TRY),
    "a": toggle,
    "g": lambda watch: watch.ask_beside(beside.PLOT),
    "s": solution,
    "r": ask_to_reset,
    "l": overview,
    "q": leave,
    "\x04": leave,
}
