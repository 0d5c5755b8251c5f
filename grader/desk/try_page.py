"""The page of `make try`: each call, and below it the learner's value beside the lesson's."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.catalog import Exercise
from grader.desk import digits
from grader.desk.tryout import OWN, Outcome
from grader.reports import terminal

MINE, LESSON = "yours", "the lesson"
INDENT = 4


def page(exercise: Exercise, outcomes: Iterable[Outcome], width: int) -> list[RenderableType]:
    """The whole page."""
    all_outcomes = list(outcomes)
    lines: list[RenderableType] = [Text(f"{exercise.folder[:2]} {exercise.title}", "bold")]
    task = None
    for outcome in all_outcomes:
        if outcome.example.task > 0 and outcome.example.task != task:
            task = outcome.example.task
            title = outcome.example.title.replace("`", "")
            lines += [Text(), Text.assemble((f"Task {task}  ", "dim"), (title, "bold"))]
        lines += shown(outcome, width)
    last = closing(exercise, all_outcomes)
    return [*lines, Text(), Text(last, "dim")] if last else lines


def shown(outcome: Outcome, width: int) -> list[RenderableType]:
    """One call and what came of it."""
    example, comparison = outcome.example, _comparison(outcome)
    equal = is_equal(outcome)
    sign, style = (
        terminal.SIGNS["passed" if equal else "failed"] if equal is not None else terminal.SIGNS["not_checked"]
    )
    head = Text.assemble((f"{sign} " if example.task != OWN else "> ", style), Text(example.code.replace("\n", "\n  ")))
    lines: list[RenderableType] = [head]
    if outcome.printed.strip():
        lines += [terminal.line(indent + INDENT, text) for indent, text in terminal.printed(outcome.printed)]
    if outcome.raised and outcome.raised == example.raises:
        return [*lines, _indented(Text(outcome.problem.splitlines()[0], "dim"))]
    if outcome.problem:
        first, *rest = outcome.problem.splitlines()
        return [
            *lines,
            terminal.line(INDENT, Text(first, style)),
            *(terminal.line(INDENT, Text(line, "dim")) for line in rest),
        ]
    if example.raises:
        return [*lines, _indented(Text(f"{outcome.text}\nThe lesson's raises {example.raises}.", style))]
    if comparison is None:
        return [*lines, _indented(Text(outcome.text))] if outcome.text else lines
    note = [_indented(Text(comparison.note, style))] if comparison.note else []
    return [*lines, *note, _sides(comparison, width)]


def is_equal(outcome: Outcome) -> bool | None:
    """Whether the value is the lesson's; None where there is nothing to compare yet."""
    example = outcome.example
    if outcome.is_open or not (outcome.problem or example.is_shown):
        return None
    if example.raises:
        return outcome.raised == example.raises
    comparison = _comparison(outcome)
    return comparison is not None and comparison.is_equal


def closing(exercise: Exercise, outcomes: Sequence[Outcome]) -> str:
    """How many are the lesson's, and what to type next."""
    number, verdicts = exercise.folder[:2], [is_equal(outcome) for outcome in outcomes if outcome.example.is_shown]
    if not verdicts:
        return ""
    counted = f"{sum(equal is True for equal in verdicts)} of {len(verdicts)} are as in the lesson."
    return f'{counted} Grade it: make check EX={number}. A line of your own: make try EX={number} ARGS="…"'


def _comparison(outcome: Outcome) -> digits.Comparison | None:
    if outcome.problem or not outcome.example.value:
        return None
    return digits.compare(outcome.text, outcome.exact, outcome.example.value)


def _sides(comparison: digits.Comparison, width: int) -> RenderableType:
    """The learner's value and the lesson's, beside each other where there is room."""
    own_text, lesson_text = _text(comparison.mine), _text(comparison.theirs)
    room = width - INDENT - len(MINE) - len(LESSON) - 6
    table = Table.grid(padding=(0, 2, 0, 0))
    if max(map(cell_len, own_text.plain.split("\n"))) + max(map(cell_len, lesson_text.plain.split("\n"))) <= room:
        table.add_row(Text(MINE, "dim"), own_text, Text(LESSON, "dim"), lesson_text)
    else:
        table.add_row(Text(MINE, "dim"), own_text)
        table.add_row(Text(LESSON, "dim"), lesson_text)
    return _indented(table)


def _text(marked_pieces: Iterable[tuple[str, bool]]) -> Text:
    text = Text(overflow="fold")
    for piece, is_equal in marked_pieces:
        text.append(piece, "dim" if is_equal else "bold red underline")
    return text


def _indented(content: RenderableType) -> RenderableType:
    return Padding(content, (0, 0, 0, INDENT), expand=False)
