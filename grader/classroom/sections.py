"""The sections of the page of a class that are ready to read: each a pure function of the summary, as HTML."""

import itertools
from collections.abc import Sequence
from urllib.parse import quote

from grader.classroom.grades import number
from grader.classroom.summary import (
    ALL_PASSED,
    NOT_GRADED,
    NOT_LOADED,
    NOT_STARTED,
    Distribution,
    Kind,
    Row,
    Summary,
    commonest,
)
from grader.report.page import escape

MOST_OPEN, MOST_CHECKS, MOST_TROUBLES, MOST_PAIRS, MOST_NAMED = 10, 15, 10, 200, 8
FEEDBACK = "feedback.html"

BAR, GAP, HEIGHT, FLOOR = 18, 4, 72, 88  # of a histogram, in its own units
BIN_NAMES = (*(f"{low} to {low + 9} %" for low in range(0, 100, 10)), "all points")


def look_after(groups: dict[str, list[Row]]) -> str:
    lines = ['<h2 id="look-after">Students to look after</h2>']
    if not groups:
        return "\n".join([*lines, "<p>Nobody: everyone handed in, and nobody is far below the class.</p>"])
    lines.append('<ul class="groups">')
    for index, (words, rows) in enumerate(groups.items()):
        named = ", ".join(link(row) for row in rows[:MOST_NAMED])
        more = f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
        lines.append(
            f"<li><strong>{len(rows):,}</strong> {escape(words)} {_show(f'g{index}', words)}"
            f'<br><span class="faint">{named}{more}</span></li>'
        )
    return "\n".join([*lines, "</ul>"])


def mistakes(summary: Summary, common: Sequence[Kind], distributions: Sequence[Distribution]) -> str:
    heading = '<h2 id="mistakes">Commonest mistakes</h2>'
    if not common:
        return f"{heading}\n<p>No mistake was named.</p>"
    items = []
    for index, (exercise, sentence) in enumerate(common):
        count, among = summary.diagnoses[exercise, sentence], distributions[exercise].handed_in
        items.append(
            f"<li><strong>{count:,} of {among:,}</strong> in {escape(title_of(summary, exercise))}: {escape(sentence)} "
            f"{_show(f'd{index}', sentence)}</li>"
        )
    lines = [
        heading,
        '<p class="faint">As the grader named them, of those who handed in the exercise; each student counts once.</p>',
        '<ol class="groups">',
        *items[:MOST_OPEN],
        "</ol>",
    ]
    if rest := items[MOST_OPEN:]:
        lines += [f"<details><summary>{len(rest)} more</summary>", f'<ol class="groups" start="{MOST_OPEN + 1}">']
        lines += [*rest, "</ol></details>"]
    return "\n".join(lines)


def exercises(summary: Summary, distributions: Sequence[Distribution]) -> str:
    lines = ['<h2 id="exercises">Exercises</h2>', '<div class="panels">']
    for index, exercise in enumerate(summary.exercises):
        found = distributions[index]
        states = found.states
        words = [
            f"{found.handed_in:,} of {len(summary.rows):,} handed in",
            f"{states[ALL_PASSED]:,} passed all",
            f"median {number(found.median, '–')} of {number(exercise.max_points)}",
            *(f"{states[NOT_LOADED]:,} not loaded" for _ in range(states[NOT_LOADED] > 0)),
            *(f"{states[NOT_STARTED]:,} not started" for _ in range(states[NOT_STARTED] > 0)),
            *(f"{states[NOT_GRADED]:,} not graded" for _ in range(states[NOT_GRADED] > 0)),
        ]
        name = escape(title_of(summary, index))
        lines.append(
            f'<figure class="exercise"><figcaption><strong>{name}</strong><br>{" · ".join(words)}</figcaption>'
            f"{histogram(found, title_of(summary, index))}</figure>"
        )
    return "\n".join([*lines, "</div>"])


def histogram(found: Distribution, title: str) -> str:
    """How many students have which share of the points, as an inline SVG that can be read aloud."""
    most = max(found.bins) or 1
    spoken = ", ".join(f"{name}: {count}" for name, count in zip(BIN_NAMES, found.bins) if count) or "no points yet"
    width = len(found.bins) * (BAR + GAP)
    shapes = []
    for index, (name, count) in enumerate(zip(BIN_NAMES, found.bins)):
        left, tall = index * (BAR + GAP), round(HEIGHT * count / most, 2)
        shape = f'<rect x="{left}" y="{FLOOR - tall}" width="{BAR}" height="{tall}"/>'
        text = f'<text x="{left + BAR / 2}" y="{FLOOR - tall - 3}">{_short(count)}</text>' if count else ""
        shapes.append(f"<g><title>{name}: {count} students</title>{shape}{text}</g>")
    return (
        f'<svg viewBox="0 0 {width} {FLOOR + 16}" role="img" class="histogram" '
        f'aria-label="{escape(f"{title}, students by share of the points: {spoken}")}">'
        f'{"".join(shapes)}<line x1="0" y1="{FLOOR}" x2="{width}" y2="{FLOOR}"/>'
        f'<text x="0" y="{FLOOR + 13}" class="start">0 %</text>'
        f'<text x="{width - GAP}" y="{FLOOR + 13}" class="end">all</text></svg>'
    )


def hardest(summary: Summary) -> str:
    lines = ['<h2 id="checks">Hardest checks</h2>']
    tallies = summary.hardest(MOST_CHECKS)
    if not tallies:
        return "\n".join([*lines, "<p>Every check was passed by all whose files could be run.</p>"])
    head = '<th scope="col">exercise</th><th scope="col">check</th>' + "".join(
        f'<th scope="col" class="number">{words}</th>' for words in ("passed", "failed", "not checked")
    )
    lines += [
        '<div class="scroll"><table><caption>Of the files that could be run; untouched ones do not count</caption>',
        f"<thead><tr>{head}</tr></thead><tbody>",
    ]
    for tally in tallies:
        share = f"{tally.passed:,} ({100 * tally.passed / tally.tried:.0f} %)"
        counts = (share, f"{tally.failed:,}", f"{tally.not_checked:,}")
        lines.append(
            f"<tr><td>{escape(summary.exercises[tally.exercise].folder[:2])}</td>"
            f'<th scope="row">{escape(tally.title)}</th>'
            + "".join(f'<td class="number">{count}</td>' for count in counts)
            + "</tr>"
        )
    return "\n".join([*lines, "</tbody></table></div>"])


def troubles(summary: Summary) -> str:
    found = commonest(summary.troubles, MOST_TROUBLES)
    if not found:
        return ""
    items = [
        f"<li><strong>{count:,}</strong> in {escape(title_of(summary, exercise))}: {escape(sentence)}</li>"
        for (exercise, sentence), count in found
    ]
    return "\n".join(["<h2>Commonest errors</h2>", '<ol class="groups">', *items, "</ol>"])


def pairs(summary: Summary, found: Sequence) -> str:
    """found: grader.similar.Pair, the weightiest first; those of the same two students are told together."""
    if not found:
        return ""
    titles = {exercise.folder: title_of(summary, index) for index, exercise in enumerate(summary.exercises)}
    rows = {row.student.id: row for row in summary.rows}
    lines = [
        '<h2 id="pairs">Similar pairs</h2>',
        '<p class="faint">Files that agree more than chance and beyond what everybody was given. '
        "Two people may well have the same thought: look at both before you say anything.</p>",
        '<ol class="groups">',
    ]
    groups = [(two, list(of)) for two, of in itertools.groupby(found, lambda pair: (pair.student_a, pair.student_b))]
    for two, of in groups[:MOST_PAIRS]:
        names = " and ".join(link(rows[who.id]) if who.id in rows else escape(who.name or who.id) for who in two)
        lines.append(f'<li class="pair">{names}<ul>')
        for pair in of:
            where = "; ".join(str(agreement) for agreement in pair.evidence)
            title = titles.get(pair.exercise, pair.exercise)
            lines.append(
                f"<li><strong>{pair.score:.0%}</strong> in {escape(title)}: {escape(where or 'all of it')}</li>"
            )
        lines.append("</ul></li>")
    lines.append("</ol>")
    if len(groups) > MOST_PAIRS:
        lines.append(f"<p>These are {MOST_PAIRS} of {len(groups):,} pairs. All of them: python -m grader similar</p>")
    return "\n".join(lines)


def title_of(summary: Summary, index: int) -> str:
    return f"{summary.exercises[index].folder[:2]} {summary.exercises[index].title}"


def link(row: Row) -> str:
    return f'<a href="{address(row)}/{FEEDBACK}">{escape(row.student.name or row.student.id)}</a>'


def address(row: Row) -> str:
    """The student's folder, as a part of an address."""
    return quote(row.student.id, safe="", errors="replace")


def _short(count: int) -> str:
    """A number that fits over a bar: "870", "3.1k"."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"


def _show(value: str, words: str) -> str:
    """A button that lists these students below."""
    return f'<button type="button" data-set="{value}" aria-label="{escape(f"Show them: {words}")}">show them</button>'
