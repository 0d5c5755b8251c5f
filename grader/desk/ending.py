"""What a learner reads once an exercise is passed: what they can do now, and what comes next."""

import re

from grader import catalog
from grader.catalog import Exercise, paths
from grader.desk import progress

# The end of a lesson says it at length, its head in one line.
AT_THE_END = re.compile(r"^## You can now …\n+(.+?)(?:\n\n|\Z)", re.M | re.S)
AT_THE_HEAD = re.compile(r"^- \*\*You will be able to\*\* (.+?)(?=\n- |\n\n)", re.M | re.S)
SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.S)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ALL_PASSED = (
    "You have passed every exercise. Let your model write (make write), keep it fresh (make review), and read the code "
    "of a model that you use: you know every line of its attention."
)


def ability(folder: str) -> str:
    """What the lesson says that one can do after it, as a sentence: "You can now …"; "" if it says nothing."""
    try:
        text = paths.lesson(folder).read_text("utf-8", errors="replace")
    except OSError:
        return ""
    found = AT_THE_END.search(text) or AT_THE_HEAD.search(text)
    if not found:
        return ""
    said = " ".join(LINK.sub(r"\1", found[1]).removeprefix("…").split())
    first = SENTENCE.match(said)
    return f"You can now {(first[1] if first else said).rstrip('.')}."


def completed_path(folder: str, states: dict[str, progress.State] | None = None) -> str:
    """The sentence on the path that this passed exercise completes; "" while others of it are open."""
    path = catalog.find(folder).path
    by_folder = progress.load() if states is None else states
    others = [one.folder for one in catalog.exercises() if one.path == path and one.folder != folder]
    if not path.after or not others or not all(by_folder.get(other, progress.State()).done for other in others):
        return ""
    return f"That completes the path “{path.name}”. You can now {path.after}."


def open_exercise(folder: str, states: dict[str, progress.State] | None = None) -> Exercise | None:
    """The exercise to do after this one: the next that is not passed, else the first; None if all are passed."""
    by_folder = progress.load() if states is None else states
    exercises = catalog.by_path()
    place = [exercise.folder for exercise in exercises].index(folder)
    order = [*exercises[place + 1 :], *exercises[:place]]
    return next((one for one in order if not by_folder.get(one.folder, progress.State()).done), None)


def lines(folder: str, states: dict[str, progress.State] | None = None) -> list[str]:
    """What is said after a pass, without what to type next: what one can do, after this exercise and after a path."""
    said = [ability(folder), completed_path(folder, states)]
    if open_exercise(folder, states) is None:
        said.append(ALL_PASSED)
    return [line for line in said if line]
