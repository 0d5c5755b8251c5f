"""A result as text: lines with their styles, for a terminal of any width, a pipe, and all that shows plain text."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TextIO

from rich.console import Console
from rich.text import Text

from grader.catalog import project
from grader.records.causes import FULL, Cause, causes, count, waiting
from grader.records.evidence import Evidence
from grader.records.results import NOT_GRADED, PASSED, CheckResult, ExerciseResult
from grader.records.sanitize import inert

SIGNS = {"passed": ("✔", "green"), "failed": ("✘", "bold red"), "not_checked": ("–", "dim")}
MAX_OUTPUT_LINES = 10
WARNING = "warning: "  # how a line begins that torch or Python printed, as the worker writes it
EXPECTED, YOURS = "  expected  ", "  yours     "
LEAST_WIDTH = 40
Line = tuple[str, str]  # a text, and its style


def console(file: TextIO | None = None) -> Console:
    """A console for a file, or for standard output. rich decides about colours (NO_COLOR, pipes)."""
    return Console(file=file, highlight=False, markup=False, emoji=False)


def show(result: ExerciseResult, output: Console, every: bool = False, closing: str = "") -> None:
    """Print the result. every: each check too; closing: lines that follow. In a pipe no line is broken."""
    show_lines(render(result, output.width if output.is_terminal else None, every, closing), output)


def show_lines(lines: Iterable[Line], output: Console) -> None:
    """Print lines that fit already."""
    for text, style in lines:
        output.print(Text(text, style), soft_wrap=True)


def plain(result: ExerciseResult, every: bool = False, width: int | None = None) -> str:
    """The result as text without colours."""
    return as_text(render(result, width, every))


def as_text(lines: Iterable[Line]) -> str:
    """The lines as text without colours."""
    return "".join(f"{text}\n" for text, _ in lines)


def explain(check: CheckResult, found: Sequence[Cause]) -> str:
    """The cause for which a check fails, as text; the check's message where it has none."""
    cause = next((cause for cause in found if check in cause.checks), None)
    return as_text(cause_lines(cause)).rstrip() if cause is not None else check.message


def render(result: ExerciseResult, width: int | None = None, every: bool = False, closing: str = "") -> list[Line]:
    """The result: points, causes, what waits for them, what to type. width: at which lines are broken, if at all."""
    notes = [line for note in result.notes for line in wrap(f"note: {note}", width, "yellow")]
    after = [line for text in closing.splitlines() for line in wrap(text, width, "dim")]
    if not result.started:
        return [*notes, *wrap(result.message, width), *after]
    found = causes(result)
    lines = [heading(result), *notes]
    if not result.tried and not found:
        lines += wrap(result.message, width, "bold red")
    lines += cause_blocks(found, width, every)
    if every:
        lines += [("", ""), *(line for check in result.checks for line in check_lines(check, found, width))]
    if result.output.strip():
        lines += [("", ""), *printed(result.output)]
    end = [*(wrap(waiting(result, found), width) if result.tried else []), *after]
    return [*lines, *([("", "")] if end and result.status != PASSED else []), *end]


def heading(result: ExerciseResult) -> Line:
    """The first line: the exercise and its points. Where the grader could not work there are no points to speak of."""
    title = f"{result.exercise[:2]} {result.title}"
    if result.status == NOT_GRADED:
        is_elsewhere = result.message.startswith(project.NOT_HERE)
        return f"{title} · {project.NOT_HERE if is_elsewhere else 'not graded'}", "bold"
    parts = [title, f"{result.points:g} of {result.max_points:g} points"]
    passed = [check for check in result.checks if check.outcome == PASSED]
    if not result.tried:
        parts.append("not loaded")
    elif result.status == PASSED:
        parts.append(count(passed, "check"))
    elif passed:
        parts.append(f"{len(passed)} of {count(result.checks, 'check')} passed")
    parts += [result.device] if result.device != "cpu" else []
    return " · ".join(parts), "bold green" if result.status == PASSED else "bold"


def cause_blocks(found: Sequence[Cause], width: int | None = None, every: bool = False) -> list[Line]:
    """The causes in order: the first ones in full, the others and the functions that are not written in a line each."""
    written = [cause for cause in found if not cause.example.is_unwritten]
    first = next((number for number, cause in enumerate(written) if cause.is_known), len(written))
    told = [cause for number, cause in enumerate(written) if cause.is_known or number < first]
    full = written if every else told[:FULL]  # what is unknown after a known one may well come from it
    lines = [line for cause in full for line in (("", ""), *cause_lines(cause, width))]
    brief = []
    for cause in (cause for cause in written if cause not in full):
        place = cause.finding.place
        where = f"{place.function or place.file}, line {place.line}: " if place is not None else ""
        brief.append((_cut(f"Then: {where}{cause.sentences[0]}", width), "dim"))
    brief += [(unwritten(cause), "dim") for cause in found if cause.example.is_unwritten]
    return [*lines, *([("", "")] if brief else []), *brief]


def cause_lines(cause: Cause, width: int | None = None) -> list[Line]:
    """One cause: the place, the sentence, the code, the call and its values."""
    finding, lines = cause.finding, list[Line]()
    if (place := finding.place) is not None:  # never broken, so that editors and terminals find it
        is_long = width is not None and len(place.words) > width
        lines.append(((replace(place, function="") if is_long else place).words, "bold cyan"))
    lines += [line for sentence in cause.sentences for line in wrap(sentence, width, "bold")]
    lines += frame_lines(cause, width)
    evidence = evidence_lines(cause.evidence, width)
    return [*lines, *([("", "")] if evidence and finding.frame else []), *evidence]


def frame_lines(cause: Cause, width: int | None = None) -> list[Line]:
    """The lines of code with their numbers, and below each what is underlined of it."""
    frame, label = cause.finding.frame, "" if cause.diagnosis else cause.finding.kind
    digits = max((len(str(line.number)) for line in frame), default=0)
    lines: list[Line] = []
    for line in frame:
        lines.append((_cut(f"  {line.number:>{digits}} │ {line.text}", width), ""))
        carets = "^" * (min(line.end, len(line.text) + 1) - line.start)
        if carets:
            text = f"  {' ' * digits} │ {' ' * line.start}{carets}"
            has_room = label and (width is None or len(text) + len(label) < width)
            lines.append((_cut(f"{text} {label}" if has_room else text, width), "bold yellow"))
    return lines


def evidence_lines(evidence: Evidence, width: int | None = None) -> list[Line]:
    """The call, the expected values and the learner's below each other, and a mark below each wrong one."""
    call = f"  {evidence.call}  {evidence.inputs}".rstrip() if evidence.call else ""
    lines = wrap(call, width) + wrap(f"  {evidence.what}:" if evidence.what else "", width)
    lines += _table(evidence, width) if evidence.got else []
    return [*lines, *(line for note in evidence.note.splitlines() for line in wrap(f"  {note}", width))]


def unwritten(cause: Cause) -> str:
    """The line on a function that is not written yet."""
    task = f"Task {cause.example.task} · " if cause.example.task else ""
    return f"{task}{cause.example.message.splitlines()[0]}"


def check_lines(check: CheckResult, found: Sequence[Cause], width: int | None = None) -> list[Line]:
    """One check: its sign, promise and points, and below them what it found."""
    sign, style = SIGNS[check.outcome]
    task = f"Task {check.task}  " if check.task else ""
    number = next((cause.number for cause in found if check in cause.checks), 0)
    cause = f"  cause {number}" if number and len(found) > 1 else ""
    lines = wrap(f"{sign} {task}{check.title}  {check.points:g}/{check.max_points:g}{cause}", width, style, 2)
    return [*lines, *(line for text in check.message.splitlines() for line in wrap(f"    {text}", width, "dim"))]


def printed(output: str) -> list[Line]:
    """The prints of the learner's code. Each line begins with a bar, so that none can be mistaken for the report."""
    lines = inert(output).rstrip("\n").split("\n")
    warned = [line for line in lines if line.startswith(WARNING)]
    heads = [("Your code printed:", "dim")] if len(warned) < len(lines) else []
    first_lines = lines[:MAX_OUTPUT_LINES]
    if len(lines) > len(first_lines):
        first_lines.append(f"… {len(lines) - len(first_lines)} more lines")
    return [*heads, *((f"│ {line}", "dim") for line in first_lines)]


def wrap(text: str, width: int | None, style: str = "", hang: int = 0) -> list[Line]:
    """A text as lines of at most this width, which keep the indentation of its first line, and `hang` more."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + hang)
        room = max(width or 0, LEAST_WIDTH)
        parts = textwrap.wrap(line, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines += parts or [""] if width is not None else [line]
    return [(line, style) for line in lines] if text else []


def _table(evidence: Evidence, width: int | None) -> list[Line]:
    """The rows of expected values, the learner's rows, and carets below those that are wrong."""
    if len(evidence.got) == 1 and len(evidence.got[0]) == 1:
        pairs = ((EXPECTED, evidence.expected[0][0]), (YOURS, evidence.got[0][0]))
        return [line for lead, text in pairs for line in wrap(lead + text, width, "", len(lead) - 2)]
    columns = list(zip(*evidence.expected, *evidence.got, strict=True))
    sizes = [max(map(len, column)) for column in columns]
    while width is not None and len(sizes) > 1 and len(EXPECTED) + sum(sizes) + 2 * (len(sizes) - 1) > width:
        sizes.pop()
    lines = []
    for lead, rows in ((EXPECTED, evidence.expected), (YOURS, evidence.got)):
        for place, row in enumerate(rows):
            start = lead if place == 0 else " " * len(lead)
            texts = [f"{text:>{size}}" for text, size in zip(row, sizes)]
            lines.append((start + "  ".join(texts), ""))
            wrong = [column for at, column in evidence.wrong if at == place and column < len(sizes)]
            if rows is evidence.got and wrong:
                marks = [f"{'^' * len(row[at]) * (at in wrong):>{size}}" for at, size in enumerate(sizes)]
                lines.append(((" " * len(lead) + "  ".join(marks)).rstrip(), "bold yellow"))
    return lines


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else f"{text[: max(width, LEAST_WIDTH) - 1]}…"
