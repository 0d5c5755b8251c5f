"""The main page of the watch, from top to bottom: the exercise, hints, the verdict, notes, the keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader import catalog
from grader.catalog import Exercise, paths
from grader.desk import ending, progress
from grader.desk.grading_thread import Watched
from grader.desk.hints import Hint
from grader.desk.lesson import Task
from grader.records.results import ERROR, NOT_CHECKED, PASSED, Cause, ExerciseResult, causes
from grader.reports import formulas, terminal

KEYS = (  # each with its name, and what `?` says about it
    ("o", "lesson", "the lesson, here in the terminal"),
    ("b", "browser", "the lesson with its figure, in your browser"),
    ("h", "hint", "the next hint for the task that is shown"),
    ("t", "try", "the lesson's example calls on your file, your numbers beside the lesson's"),
    ("g", "plot", "pictures: your attention weights beside the expected ones"),
    ("a", "all", "every check in full, and back"),
    ("e", "train", "after a pass: your own code learns something in a few seconds, where there is such a proof"),
    ("s", "solution", "the reference beside your file, once you have passed"),
    ("n", "next", "the next exercise; after a pass the next one that is open"),
    ("p", "previous", "the exercise before this one"),
    ("l", "list", "all exercises: choose with the arrows, open with Enter"),
    ("r", "reset", "the fresh stub; it asks first, and your file is kept"),
    ("?", "keys", "this page"),
    ("q", "quit", "end the watch; so does Ctrl-C"),
)
FOOT = "ohtgsnl?q"  # the keys that are always in sight
SCROLLING = (
    ("↑ ↓ PgUp PgDn", "scroll what is longer than the screen; Home and End go to its ends"),
    ("/", "search in what is shown; Enter goes to the next place"),
    ("Ctrl-Z", "stops the watch, and fg goes on"),
)
BAR = {"passed": ("█", "green"), "begun": ("▒", "yellow"), "not started": ("░", "dim")}


@dataclass(frozen=True)
class View:
    """All that the main page shows.

    states: of all exercises in order: "passed", "begun" or "not started"; at: the place of this one among them;
    every: show every check; status: what is under way; note, warnings: told once, and all the time.
    """

    watched: Watched
    states: tuple[str, ...]
    at: int
    following: Exercise | None  # to be offered once this one is passed; None if all are
    every: bool = False
    hints: tuple[Hint, ...] = ()
    status: str = ""
    note: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, watched: Watched, every: bool, hints: tuple[Hint, ...], **texts: Any) -> View:
        """The view of an exercise among all. texts: status, note and warnings."""
        exercises, by_folder = catalog.by_path(), progress.load()
        at = exercises.index(watched.exercise)
        states = tuple(by_folder.get(listed.folder, progress.State()).status for listed in exercises)
        following = ending.open_exercise(watched.exercise.folder, by_folder)
        return cls(watched, states, at, following, every, hints, **texts)


def heading(view: View) -> list[RenderableType]:
    """The exercise, its place among all, its file, and how far all exercises are."""
    exercise = view.watched.exercise
    facts = f"  {exercise.path.name} · {view.at + 1} of {len(view.states)}"
    name = Text.assemble((f"{exercise.folder[:2]} {exercise.title}", "bold"), (facts, "dim"))
    return [name, Text(paths.shown(paths.stub(exercise.folder)), "dim", no_wrap=True), bar(view), Text()]


def bar(view: View) -> Text:
    """One character for each exercise, by its state; the one that is shown stands out."""
    text = Text(no_wrap=True)
    for place, state in enumerate(view.states):
        sign, style = BAR[state]
        text.append("▮" if place == view.at else sign, f"bold {style}" if place == view.at else style)
    return text.append(f"  {view.states.count('passed')} of {len(view.states)} passed", "dim")


def hints(view: View) -> Iterable[RenderableType]:
    """The hint for the task that is shown, and below it an empty line."""
    for hint in view.hints:
        title = f"Hint {hint.place} for task {hint.task}: " if hint.stage else f"Hint {hint.place}: "
        yield Padding(Text.assemble((title, "yellow"), formulas.as_text(hint.text)), (0, 0, 1, 0))


def notes(view: View) -> Iterable[RenderableType]:
    """The lines that stay in sight: the points, and messages besides the verdict."""
    result = view.watched.result
    if result is not None and result.started:
        yield Text.assemble(terminal.summary(result), (f" · {view.watched.when} · seed {result.seed}", "dim"))
    yield from (Text(text, "yellow") for text in (*view.warnings, view.note, view.status) if text)


def verdict(view: View) -> Iterable[RenderableType]:
    """The verdict, in brief or with every check."""
    result = view.watched.result
    if result is None:
        yield from ()
    elif not result.started:
        yield Text("Not started: read the lesson (o), replace a `raise NotImplementedError` with your code, and save.")
    elif view.every or result.status == ERROR:
        yield from (terminal.line(indent, text) for indent, text in terminal.render(result, every=True)[1:-1])
    else:
        yield from brief(result, view.watched.task)
    if result is not None and result.status == PASSED:
        following, number = view.following, view.watched.exercise.folder[:2]
        yield from (Text(line, "green") for line in ending.lines(view.watched.exercise.folder))
        if ending.proof(view.watched.exercise.folder):
            yield Text("e: watch it learn here", "green")
        if following:
            yield Text(f"n: on to {following.folder[:2]} {following.title}", "green")
        yield Text(f"s: the reference beside yours, and what to notice · make experiment EX={number}", "dim")


def brief(result: ExerciseResult, task: Task | None) -> Iterable[RenderableType]:
    """The passed checks in one line, one cause in full, the others in one line. task: the task shown above."""
    counts = {outcome: sum(check.outcome == outcome for check in result.checks) for outcome in terminal.SIGNS}
    yield from (Text(f"note: {note}", "yellow") for note in result.notes)
    if counts[PASSED]:
        yield Text(f" ✔ {_checks(counts[PASSED])} passed", "green")
    first, *others = sorted(causes(result), key=lambda cause: not _concerns(cause, task)) or (None,)
    if first is not None:
        yield from (terminal.line(indent_of_line, text) for indent_of_line, text in terminal.cause_lines(first))
    not_shown = sum(len(cause.checks) for cause in others) + counts[NOT_CHECKED]
    if not_shown:
        yield Text(f" – {_checks(not_shown, 'more ')} not passed (a: show all)", "dim")
    if result.output.strip():
        yield from (terminal.line(indent, text) for indent, text in terminal.printed(result.output))


def keys(view: View, width: int) -> Text:
    """The keys with their names. A key that does nothing now is dim."""
    shown = sorted((key for key in KEYS if key[0] in FOOT), key=lambda key: FOOT.index(key[0]))
    spaces = "  " if width > sum(len(f"{key} {name}  ") for key, name, _ in shown) - 2 else " "
    text = Text(no_wrap=False)
    for key, name, _ in shown:
        style = "dim" if key == "s" and not view.watched.is_passed else "bold cyan"
        text.append(key, style).append(f" {name}{spaces}", "dim")
    text.rstrip()
    return text


def all_keys() -> Table:
    """The page of the key `?`."""
    table = Table.grid(padding=(0, 2))
    for key, name, words in KEYS:
        table.add_row(Text(key, "bold cyan"), Text(name), Text(words, "dim"))
    table.add_row()
    for key, words in SCROLLING:
        table.add_row(Text(key, "bold cyan"), Text(), Text(words, "dim"))
    return table


def _concerns(cause: Cause, task: Task | None) -> bool:
    """Whether what fails belongs to this task, by the check that is shown of it."""
    return task is not None and cause.example.task == task.number


def _checks(number: int, more: str = "") -> str:
    return f"{number} {more}{'check' if number == 1 else 'checks'}"
