"""A result as a learner reads it in a terminal. Colours and width follow the terminal."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from grader.catalog import project
from grader.records.results import NOT_GRADED, PASSED, Cause, CheckResult, ExerciseResult, causes, still_to_run
from grader.records.sanitize import inert, label

SIGNS = {"passed": ("✔", "green"), "failed": ("✘", "bold red"), "not_checked": ("–", "dim")}
SIGN = re.compile(r"\s*(?:[✔✘–·│+-] |likely: )?\s*")  # the start of a line; its wrapped lines are indented to its end
SHOULD = "should hold: "  # stands before what a check that did not pass promises
MIN_ROOM = 10  # columns that a wrapped line has at least
MAX_OUTPUT_LINES = 20
WARNING = "warning: "  # how a line begins that torch or Python printed, as the worker writes it
PLACE = re.compile(r"\S+:\d+( |$)")  # file:line


@dataclass(frozen=True)
class Hanging:
    """A text whose wrapped lines keep the indentation of their first line, and begin below its text."""

    text: Text
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.text.split("\n", allow_blank=True):
            lead = SIGN.match(line.plain)
            hang = len(lead[0]) if lead else 0
            room = max(options.max_width - self.indent - hang, MIN_ROOM)
            first, rest = line[:hang], line[hang:]
            for part in rest.wrap(console, room) or [Text()]:
                part.rstrip()
                yield Text(" " * self.indent, no_wrap=True, overflow="ignore") + first + part
                first = Text(" " * hang)


def console(file: TextIO | None = None) -> Console:
    """A console for a file, or for standard output. rich decides about colours (NO_COLOR, pipes)."""
    return Console(file=file, highlight=False, markup=False, emoji=False)


class Waiting:
    """A line at the end of a terminal that says what is waited for, and goes away. Elsewhere it is not there."""

    def __init__(self, console: Console) -> None:
        self.status = console.status("") if console.is_terminal else None

    def __enter__(self) -> "Waiting":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, text: str) -> None:
        """Show this text from now on."""
        if self.status is not None:
            self.status.update(Text(text, "dim"))
            self.status.start()

    def end(self) -> None:
        """Take the line away."""
        if self.status is not None:
            self.status.stop()


def show(result: ExerciseResult, output: Console, every: bool = False, closing: str = "") -> None:
    """Print the result. every: all failed checks in full, not only the first; closing: lines that follow."""
    for indent, text in render(result, every, closing):
        if output.is_terminal:
            output.print(line(indent, text), crop=False)
        else:
            output.print(Text(" " * indent) + text, soft_wrap=True)


def plain(result: ExerciseResult, every: bool = False) -> str:
    """The result as text without colours."""
    file = io.StringIO()
    show(result, console(file), every)
    return file.getvalue()


def line(indent: int, text: Text) -> RenderableType:
    """One line, wrapped with its indentation. A place in a file is not wrapped, so that terminals link it."""
    if PLACE.match(text.plain):
        return Text(" " * indent, no_wrap=True, overflow="ignore") + text
    return Hanging(text, indent)


def render(result: ExerciseResult, every: bool = False, closing: str = "") -> list[tuple[int, Text]]:
    """The result as lines of rich text, each with its indentation."""
    notes = [(0, Text(f"note: {note}", "yellow")) for note in result.notes]
    if not result.started:
        return [*notes, (0, Text(result.message)), *((0, Text(line, "dim")) for line in closing.splitlines())]
    lines = [(0, heading(result)), *notes]
    if not result.tried:
        lines += _block(result.message, 3, "bold red")
    else:
        lines += [line for check in result.checks for line in check_lines(check)] if every else by_cause(result)
    if result.output.strip():
        lines += printed(result.output)
    lines.append((0, summary(result)))
    lines += [(0, Text(line, "dim")) for line in closing.splitlines()]
    return lines


def show_places(result: ExerciseResult, console: Console, closing: str = "") -> None:
    """Print where to look, for each cause that a place was found for: it is found after the verdict is shown."""
    for cause in causes(result):
        if cause.where:
            console.print(Text(cause.where, "bold"), soft_wrap=not console.is_terminal)
    for text in closing.splitlines():
        console.print(Text(text, "dim"), soft_wrap=not console.is_terminal)


def heading(result: ExerciseResult) -> Text:
    """The first line: exercise, file, device and seed."""
    text = Text(f"{result.exercise[:2]} {result.title}", "bold")
    seed = "" if result.seed is None else f" · seed {result.seed}"
    text.append(f"  {label(result.submission)} · {result.device}{seed}", "dim")
    return text


def summary(result: ExerciseResult) -> Text:
    """The last line: points and status. Where the grader could not work there are no points to speak of."""
    if result.status == NOT_GRADED:
        return Text(project.NOT_HERE if result.message.startswith(project.NOT_HERE) else "not graded", "bold")
    style = "bold green" if result.status == PASSED else "bold"
    return Text(f"{result.points:g} of {result.max_points:g} points · {result.status}", style)


def by_cause(result: ExerciseResult) -> list[tuple[int, Text]]:
    """Each cause once, by its clearest example; then the checks that were not tried, and how many passed."""
    lines = []
    for cause in causes(result):
        lines += cause_lines(cause)
    lines += [(1, Text(f"– {sentence}", "dim")) for sentence in still_to_run(result)]
    passed = [check for check in result.checks if check.outcome == PASSED]
    if result.status == PASSED:
        lines += [line for check in passed for line in check_lines(check)]
    elif passed:
        lines.append((1, Text(f"✔ passed: {_count(passed)}", "green")))
    return lines


def cause_lines(cause: Cause) -> list[tuple[int, Text]]:
    """One cause: its clearest example in full, and which checks fail with it."""
    if cause.example.is_unwritten:
        return [(1, _unwritten(cause.example, cause.checks))]
    lines = check_lines(replace(cause.example, diagnosis=cause.diagnosis, where=cause.where))
    others = len(cause.checks) - 1
    fail = "check fails" if others == 1 else "checks fail"
    return [*lines, *_block(f"{others} other {fail} for the same reason", 6, "dim")] if others else lines


def check_lines(check: CheckResult) -> list[tuple[int, Text]]:
    """One check: its line, and below it the likely cause, where to look, and what went wrong."""
    if check.is_unwritten:
        return [(1, _unwritten(check, (check,)))]
    sign, style = SIGNS[check.outcome]
    line = Text()
    line.append(f"{sign} ", style)
    line.append(f"Task {check.task}  " if check.task else "", "dim")
    promise = check.title if check.outcome == PASSED else f"{SHOULD}{check.title}"
    line.append(promise, "" if check.outcome == PASSED else style)
    line.append(f"  {check.points:g}/{check.max_points:g}", "dim")
    if check.outcome == PASSED:
        return [(1, line), *((6, Text(note, "dim")) for note in check.message.splitlines())]
    diagnosis_lines = _block(f"likely: {check.diagnosis}", 6, "yellow") if check.diagnosis else []
    place_lines = _block(check.where, 6, "bold") if check.where else []
    return [(1, line), *diagnosis_lines, *place_lines, *_block(check.message, 6)]


def printed(output: str) -> list[tuple[int, Text]]:
    """The prints of the learner's code. Each line begins with a bar, so that none can be mistaken for the report."""
    lines = inert(output).rstrip("\n").split("\n")
    warned = [line for line in lines if line.startswith(WARNING)]
    heads = [(0, Text("Your code printed:", "dim"))] if len(warned) < len(lines) else []
    first_lines = lines[:MAX_OUTPUT_LINES]
    if len(lines) > len(first_lines):
        first_lines.append(f"… {len(lines) - len(first_lines)} more lines")
    return [*heads, *((0, Text(f"│ {line}", "dim")) for line in first_lines)]


def _unwritten(check: CheckResult, checks: Sequence[CheckResult]) -> Text:
    """The line on a function that is not written yet, with the points that its checks give."""
    points = sum(each.max_points for each in checks)
    task = f"Task {check.task}  " if check.task else ""
    return Text(f"· {task}{check.message.splitlines()[0]}  0/{points:g}", "dim")


def _count(checks: Sequence[CheckResult]) -> str:
    return "1 check" if len(checks) == 1 else f"{len(checks)} checks"


def _block(text: str, indent: int, first_style: str = "") -> list[tuple[int, Text]]:
    first, *rest = text.split("\n")
    return [(indent, Text(first, first_style)), *((indent, Text(line)) for line in rest)]
