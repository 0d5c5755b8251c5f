"""Draws the pages of the watch on the terminal."""

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from grader.catalog import Exercise, paths
from grader.desk.hints import Hint
from grader.desk.lesson import Task
from grader.desk.pager import Pager
from grader.records.causes import causes
from grader.records.results import ERROR, NOT_CHECKED, PASSED, ExerciseResult
from grader.reports import formulas, terminal

KEYS = (
    ("n", "next"), ("p", "previous"), ("h", "hint"), ("t", "try"), ("a", "all"), ("g", "plot"),
    ("s", "solution"), ("r", "reset"), ("l", "list"), ("q", "quit"),
)  # fmt: skip
SCROLLING = "↑ ↓ PgUp PgDn Home End: scroll · /: search"
BAR = {"passed": ("█", "green"), "begun": ("▒", "yellow"), "not started": ("░", "dim")}
LESSON_LINES = (3, 14)  # of the task's text, at least and at most
LINKS = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class View:
    """All that the main page shows."""

    exercise: Exercise
    position: str  # "3 of 14"
    task: Task | None
    result: ExerciseResult | None
    when: str = ""  # the time of the verdict
    every: bool = False
    is_passed: bool = False  # now or before
    hints: tuple[Hint, ...] = ()
    status: str = ""  # "grading …"
    note: str = ""
    following: str = ""  # the next exercise, to be offered once this one is passed
    states: tuple[str, ...] = ()  # of all exercises, in order: "passed", "begun" or "not started"
    at: int = 0  # the place of this exercise among them
    warnings: tuple[str, ...] = field(default=())


class Screen:
    """Draws pages, each with its foot at the bottom. What is longer than the terminal scrolls: see pager.py.

    prompt: what was typed to be searched for, while it is typed.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        console.push_theme(Theme({"markdown.code": "cyan"}))  # no background: terminals are dark or light
        self.plain = console.is_dumb_terminal
        self.has_drawn = False
        self.pager = Pager()
        self.prompt: str | None = None
        self.lines: list[str] = []  # of the page, without its foot
        self.foot: list[str] = []
        self.lesson_lines: dict[tuple[str, int], list[str]] = {}  # by Markdown and width

    def draw(self, parts: Iterable[RenderableType], foot: Iterable[RenderableType]) -> None:
        """Show the page instead of the one before."""
        self.lines, self.foot = self._lines(parts), self._lines(foot)
        self.write()

    def write(self) -> None:
        """Show the part of the page that is to be seen, in one write, so that it does not flicker."""
        if self.plain:
            text = "\n".join([*self.lines, *self.foot, ""])
        else:
            shown = [*self._seen(), *self._below(), *self.foot]
            scrolled = "" if self.has_drawn else "\n" * self.console.height  # keeps what the terminal showed before
            text = f"{scrolled}\x1b[H" + "\x1b[K\n".join(shown) + "\x1b[K\x1b[J"
        self.has_drawn = True
        with contextlib.suppress(OSError):  # the window was closed, which the keyboard reports
            self.console.file.write(text)
            self.console.file.flush()

    def _seen(self) -> list[str]:
        """The lines of the page that are seen, and empty ones down to the foot."""
        room = self.console.height - len(self.foot)
        self.pager.show(self.lines, room)
        if self.pager.scrolls or self.prompt is not None or self.pager.searched:
            self.pager.show(self.lines, room := room - 1)  # _below takes a line
        lines = self._lines(self.pager.seen()) if self.pager.searched else [*self.pager.visible()]
        return [*lines, *[""] * (room - len(lines))]

    def _below(self) -> list[str]:
        """Where the page is, and the keys that scroll; or what is being searched for."""
        pager = self.pager
        if self.prompt is not None:
            return self._lines([Text(f"/{self.prompt}▏", "bold")])
        if pager.searched and pager.found is None:
            return self._lines([Text(f"“{pager.searched}” is not on this page", "yellow", no_wrap=True)])
        if not pager.scrolls:
            return [""] * bool(pager.searched)
        return self._lines([Text(f"{pager.position} · {SCROLLING}", "dim", no_wrap=True, overflow="ellipsis")])

    def _lines(self, parts: Iterable[RenderableType]) -> list[str]:
        text = self.text(parts)
        return text.removesuffix("\n").split("\n") if text else []

    def text(self, parts: Iterable[RenderableType]) -> str:
        """The parts as text with escape codes, in the terminal's width."""
        with self.console.capture() as captured:
            for part in parts:
                self.console.print(part, crop=False)
        return captured.get()

    def main(self, view: View) -> None:
        """Draw the main page. The task's text gets the lines that the other parts leave free."""
        above, below, foot = (
            heading(view),
            [*hints(view), *verdict(view)],
            [*notes(view), keys(view, self.console.width)],
        )
        room = self.console.height - self.text([*above, *below, *foot]).count("\n") - 2
        self.draw([*above, *self.task(view, room), *below], foot)

    def task(self, view: View, room: int) -> list[RenderableType]:
        """The current task, with its text from the lesson. room: the lines that it may take."""
        if view.task is None:
            return []
        least, most = LESSON_LINES
        title = Text.assemble((f"Task {view.task.number}  ", "dim"), (view.task.title.replace("`", ""), "bold"))
        lines = self.lesson(view.task.text, self.console.width)
        count = max(least, min(room - 2, most))
        text = Text.from_ansi("\n".join(lines[:count]), no_wrap=True)
        if len(lines) > count:
            lesson = paths.shown(paths.lesson(view.exercise.folder))
            return [title, text, Text(f"  … more in {lesson}", "dim"), Text()]
        return [title, text, Text()]

    def lesson(self, markdown: str, width: int) -> list[str]:
        """A task's text as lines for the terminal. Lines that were made before are reused."""
        if (markdown, width) not in self.lesson_lines:
            page = Markdown(LINKS.sub(r"\1", formulas.as_text(markdown)), code_theme="ansi_dark")
            lines = self.text([Padding(page, (0, 0, 0, 2))]).split("\n")
            self.lesson_lines[markdown, width] = [line for line in lines if Text.from_ansi(line).plain.strip()]
        return self.lesson_lines[markdown, width]


def heading(view: View) -> list[RenderableType]:
    """The exercise, its place among all, its file, and how far all exercises are."""
    facts = f"  {view.exercise.track} track · {view.position}"
    name = Text.assemble((f"{view.exercise.folder[:2]} {view.exercise.title}", "bold"), (facts, "dim"))
    return [name, Text(paths.shown(paths.stub(view.exercise.folder)), "dim", no_wrap=True), bar(view), Text()]


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
        title = f"Hint {hint.stage} of {hint.of} for task {hint.task}: "
        yield Padding(Text.assemble((title, "yellow"), formulas.as_text(hint.text)), (0, 0, 1, 0))


def notes(view: View) -> Iterable[RenderableType]:
    """What stays in sight: the points, and what is to be told besides the verdict."""
    if view.result is not None and view.result.started:
        yield Text.assemble(terminal.summary(view.result), (f" · {view.when} · seed {view.result.seed}", "dim"))
    yield from (Text(text, "yellow") for text in (*view.warnings, view.note, view.status) if text)


def verdict(view: View) -> Iterable[RenderableType]:
    """The verdict, in brief or with every check."""
    result = view.result
    if result is None:
        yield from ()
    elif not result.started:
        yield Text("Not started: replace a `raise NotImplementedError` with your code and save.")
    elif view.every or result.status == ERROR:
        yield from (terminal.line(indent, text) for indent, text in terminal.render(result, every=True)[1:-1])
    else:
        yield from brief(result)
    if result is not None and result.status == PASSED:
        yield Text(f"n: on to {view.following}" if view.following else "That was the last one.", "green")


def brief(result: ExerciseResult) -> Iterable[RenderableType]:
    """What is passed in one line, the first cause in full, the rest in one line."""
    counts = {outcome: sum(check.outcome == outcome for check in result.checks) for outcome in terminal.SIGNS}
    yield from (Text(f"note: {note}", "yellow") for note in result.notes)
    if counts[PASSED]:
        yield Text(f" ✔ {_checks(counts[PASSED])} passed", "green")
    first, *others = causes(result) or (None,)
    if first is not None:
        yield from (terminal.line(left, text) for left, text in terminal.cause_lines(first))
    left = sum(len(cause.checks) for cause in others) + counts[NOT_CHECKED]
    if left:
        yield Text(f" – {_checks(left, 'more ')} not passed (a: show all)", "dim")
    if result.output.strip():
        yield from (terminal.line(indent, text) for indent, text in terminal.printed(result.output))


def keys(view: View, width: int) -> Text:
    """The keys with their names. A key that does nothing now is dim."""
    spaces = "  " if width > sum(len(f"{key} {name}  ") for key, name in KEYS) else " "
    text = Text(no_wrap=False)
    for key, name in KEYS:
        style = "dim" if key == "s" and not view.is_passed else "bold cyan"
        text.append(key, style).append(f" {name}{spaces}", "dim")
    text.rstrip()
    return text


def _checks(number: int, more: str = "") -> str:
    return f"{number} {more}{'check' if number == 1 else 'checks'}"
