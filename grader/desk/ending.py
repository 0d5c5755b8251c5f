"""What a learner reads at first, after a pass, and what comes next: for the check, the watch, lists and the report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import Exercise, paths, project
from grader.desk import formulas, lesson, progress
from grader.records import containment

if TYPE_CHECKING:
    from rich.console import Console

SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.S)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
EMPHASIS = re.compile(r"\*([^*`]+)\*")
ALL_PASSED = (
    "You have passed every exercise{but}. Let your model write (make write), keep it fresh (make review), and "
    "read the code of a model that you use: you know every line of its attention."
)
CAN = "You can now "  # how the sentence on what one can do begins
PAUSE = (
    " This is a good place to stop. What comes next is {count} paths, in any order that “builds on” allows: {firsts}."
)
HELLO = "Attention, by hand"
FIRST_TIME = (
    "Welcome! Here you write attention yourself, from the first dot product to a model that tells a story. You "
    "write functions in PyTorch. Each time you save, the grader says what works, which mistake you made and on which "
    "line."
)
NO_WARM_UP = "You know PyTorch well? Begin with {number}: make start EX={number}"
OTHERS = "All commands: make help"


def ability(folder: str) -> str:
    """What the lesson says that one can do after it, as a sentence: "You can now …"; "" if it says nothing."""
    paragraph, _, _ = lesson.section(folder, "You can now …").removeprefix("… ").partition("\n\n")
    text = " ".join(EMPHASIS.sub(r"\1", LINK.sub(r"\1", paragraph)).split())
    first = SENTENCE.match(text)
    return f"{CAN}{formulas.as_text(first[1]).rstrip('.:')}." if first else ""


def completed_path(folder: str, states: dict[str, progress.State] | None = None) -> str:
    """The sentence on the path that this passed exercise completes; "" while others of it are open."""
    path, of_path = catalog.find(folder).path, _completed(folder, states)
    if not path.after or len(of_path) < 2:
        return ""
    every = catalog.learning_paths()
    following = every[every.index(path) + 1 :] if path.pause else ()
    firsts = ", ".join(f"{one.numbers[0]} ({one.name})" for one in following)
    pause = PAUSE.format(count=len(following), firsts=firsts) if following else ""
    return f"That completes the path “{path.name}”. {CAN}{path.after}.{pause}"


def problems(folder: str, states: dict[str, progress.State] | None = None) -> str:
    """Where the problems on the path are that this passed exercise completes; "" while others of it are open."""
    pages = [page for one in _completed(folder, states)[-1:] if (page := paths.problems(one)).exists()]
    return f"Problems to try on paper: {paths.shown(pages[0])}" if pages else ""


def _completed(folder: str, states: dict[str, progress.State] | None) -> list[str]:
    """The exercises of the path that this passed exercise completes, in their order; none while others are open."""
    path = catalog.find(folder).path
    of_path = [one.folder for one in catalog.exercises() if one.path == path]
    return of_path if all(one == folder or progress.state(one, states).done for one in of_path) else []


def proof(folder: str) -> str:
    """The sentence on the training of this exercise's own code; "" where there is none."""
    sentence = f"See your own code learn something: make train EX={folder[:2]} (not graded)"
    return sentence if catalog.find(folder).trains == folder[:2] else ""


def open_exercise(folder: str | None = None, states: dict[str, progress.State] | None = None) -> Exercise | None:
    """The exercise to do next: after this one the next that is not passed, else the first; None if all are passed.

    folder: by default the exercise that was passed last, so that every place names the same one. Somebody who has begun
    with the others is not sent back to the warm-up, and nobody to what this machine cannot run.
    """
    by_folder = progress.load() if states is None else states
    exercises = catalog.exercises()
    of_each = [progress.state(exercise.folder, by_folder) for exercise in exercises]
    has_begun = any(own.status != "not started" for one, own in zip(exercises, of_each) if not one.path.warm_up)
    if folder is None:
        passed = [(own.first_pass, place) for place, own in enumerate(of_each) if own.first_pass is not None]
        place = max(passed)[1] if passed else -1
    else:
        place = [exercise.folder for exercise in exercises].index(folder)
    for one in [*exercises[place + 1 :], *exercises[: max(place, 0)]]:
        is_left_out = (has_begun and one.path.warm_up) or project.not_here(one.limits.needs)
        if not is_left_out and not progress.state(one.folder, by_folder).done:
            return one
    return None


def lines(folder: str, states: dict[str, progress.State] | None = None) -> list[str]:
    """What is said after a pass, without what to type next: what one can do, after this exercise and after a path."""
    said = [ability(folder), completed_path(folder, states), problems(folder, states), proof(folder)]
    if open_exercise(folder, states) is None:
        said.append(all_passed(folder, states))
    return [line for line in said if line]


def next_step(folder: str | None = None, states: dict[str, progress.State] | None = None) -> str:
    """The line on what to type next, or that there is nothing left. folder: the exercise that was just passed."""
    following = open_exercise(folder, states)
    if following is not None:
        return f"Next: make start EX={following.folder[:2]}  ({following.title})"
    return "" if folder else all_passed(states=states)  # `lines` has said it


def all_passed(folder: str | None = None, states: dict[str, progress.State] | None = None) -> str:
    """The sentence for somebody with nothing left to do. It names what was left out, as a warm-up.

    folder: the exercise that was just passed.
    """
    others = [one for one in catalog.exercises() if one.folder != folder]
    left_out = [one.folder[:2] for one in others if not progress.state(one.folder, states).done]
    return ALL_PASSED.format(but=f" but {' and '.join(left_out)}" if left_out else "")


def welcome(console: Console) -> None:
    """Print what make alone says: hello, what is next, and what is due."""
    from rich.markup import escape

    states, exercises = progress.load(), catalog.exercises()
    following = open_exercise(states=states)
    passed = sum(progress.state(one.folder, states).done for one in exercises)
    has_begun = any(state.status != "not started" for state in states.values())
    back = f"Welcome back! You have passed {passed} of {len(exercises)} exercises." if has_begun else FIRST_TIME
    # Where nothing is left, the closing says that all is passed.
    lines = [f"[bold]{HELLO}", "", back if following else "Welcome back!", ""]
    if following is not None:
        lesson_path, stub = (escape(paths.shown(path(following.folder))) for path in (paths.lesson, paths.stub))
        lines += [
            f"Next is [bold]{following.folder[:2]} {following.title}[/], in the path “{following.path.name}”.",
            f"  1  read    [cyan]{lesson_path}",
            f"  2  write   [cyan]{stub}",
            "  3  type    [bold cyan]make start[/]   and leave it open beside your editor",
            "",
        ]
        first = next((one for one in exercises if not one.path.warm_up), None)
        if following.path.warm_up and first is not None:
            lines.append(f"[dim]{NO_WARM_UP.format(number=first.folder[:2])}")
    lines += [line for line in closing_lines(states) if not line.startswith("Next:")]
    for line in [*lines, f"[dim]{OTHERS}"]:
        console.print(line, markup=True, soft_wrap=not console.is_terminal)


def closing_lines(states: dict[str, progress.State] | None = None) -> list[str]:
    """The last lines of every overview: what to type next, and which questions are due."""
    from grader.desk import review

    number = containment.optional("the questions that are due", 0, lambda: len(review.due(review.schedule())))
    lines = [next_step(states=states), review.count(number)]
    if paths.LEARNERS and paths.MARKER.read_text("utf-8", errors="replace").strip() != project.version():
        lines.append(
            f"kata is now {project.version()}. For its lessons and stubs, with your code kept, type: make update"
        )
    return [line for line in lines if line]
