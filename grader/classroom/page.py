"""class.html: the results of a class on one page, for the instructor. It needs no other file and loads nothing."""

import json
from collections.abc import Iterable, Sequence

from grader import paths
from grader.classroom import sections
from grader.classroom.grades import number
from grader.classroom.records import Class
from grader.classroom.sections import FEEDBACK, address, title_of
from grader.classroom.summary import (
    ABSENT,
    ALL_PASSED,
    NOT_GRADED,
    NOT_LOADED,
    NOT_STARTED,
    Kind,
    Row,
    Summary,
    commonest,
)
from grader.report.inert import inert
from grader.report.page import document, escape

MOST_DIAGNOSES = 30  # listed, and offered as filters
FAR_BELOW = 0.5  # of the median total


def class_page(klass: Class, pairs: Sequence = ()) -> str:
    """The page of a class. `pairs`: grader.similar.Pair, for a person to judge."""
    return render(Summary.of(klass), pairs)


def render(summary: Summary, pairs: Sequence = ()) -> str:
    """The same of a summary."""
    common = [kind for kind, _ in commonest(summary.diagnoses, MOST_DIAGNOSES)]
    groups = attention(summary)
    found = [summary.distribution(index) for index in range(len(summary.exercises))]
    parts = [
        _overview(summary),
        sections.look_after(groups),
        sections.mistakes(summary, common, found),
        sections.exercises(summary, found),
        sections.hardest(summary),
        sections.troubles(summary),
        sections.pairs(summary, pairs),
        _students(summary, groups, common),
        f'<script type="application/json" id="data">{_data(summary, groups, common)}</script>',
    ]
    script = paths.CLASS_SCRIPT.read_text("utf-8")
    return document("Results of the class", "\n".join(parts), script, paths.CLASS_STYLE.read_text("utf-8"))


def attention(summary: Summary) -> dict[str, list[Row]]:
    """The students to look after, by the reason; a student may stand under several."""
    rows, median = summary.rows, summary.median()
    groups = {
        "not graded: the grader failed, grade again": [row for row in rows if NOT_GRADED in row.states],
        "handed in nothing": [row for row in rows if not row.handed_in],
        "handed in a file that could not be loaded": [row for row in rows if NOT_LOADED in row.states],
        "handed in an untouched file": [row for row in rows if NOT_STARTED in row.states],
    }
    if median:
        words = f"far below the class: less than half of the median of {number(median)} points"
        groups[words] = [
            row for row in rows if row.handed_in and row.total is not None and row.total < FAR_BELOW * median
        ]
    return {words: found for words, found in groups.items() if found}


# The sections of the page.


def _overview(summary: Summary) -> str:
    rows = summary.rows
    possible = len(rows) * len(summary.exercises)
    absent = sum(row.states.count(ABSENT) for row in rows)
    facts = [
        (f"{len(rows):,}", "students"),
        (f"{possible - absent:,} of {possible:,}", "exercises handed in"),
        (f"{sum(row.states.count(ALL_PASSED) for row in rows):,}", "of them all passed"),
        (number(summary.median(), "–"), f"of {number(summary.max_points)} points: the median of who handed in"),
    ]
    cards = "".join(f"<li><strong>{escape(value)}</strong> {escape(words)}</li>" for value, words in facts)
    links = [("#look-after", "students to look after"), ("#mistakes", "commonest mistakes")]
    links += [("#exercises", "exercises"), ("#checks", "hardest checks"), ("#students", "all students")]
    jumps = " · ".join(f'<a href="{target}">{words}</a>' for target, words in links)
    return f'<ul class="facts">{cards}</ul>\n<nav aria-label="On this page">{jumps}</nav>'


def _students(summary: Summary, groups: Iterable[str], common: Sequence[Kind]) -> str:
    """The frame of the table, which the script fills: the rows stand in the data."""
    exercises = "".join(
        f'<option value="{index}">{escape(title_of(summary, index))}</option>'
        for index in range(len(summary.exercises))
    )
    of_groups = "".join(f'<option value="g{i}">{escape(words)}</option>' for i, words in enumerate(groups))
    of_mistakes = "".join(
        f'<option value="d{i}">{escape(f"{summary.exercises[exercise].folder[:2]}: {sentence}"[:120])}</option>'
        for i, (exercise, sentence) in enumerate(common)
    )
    return f"""<h2 id="students" tabindex="-1">All students</h2>
<noscript><p>The table needs JavaScript. The same numbers are in <a href="grades.csv">grades.csv</a>.</p></noscript>
<form class="filters" id="filters" role="search" aria-label="Filter the students">
<label>Name or id <input type="search" id="text" autocomplete="off" spellcheck="false"></label>
<label>Exercise <select id="exercise"><option value="">any</option>{exercises}</select></label>
<label>State <select id="state">
<option value="">any</option><option value="pfenu">handed in</option><option value="-">not handed in</option>
<option value="p">all passed</option><option value="f">something failed</option><option value="e">not loaded</option>
<option value="n">not started</option><option value="u">not graded</option></select></label>
<label>Students <select id="set"><option value="">all</option><optgroup label="To look after">{of_groups}</optgroup>
<optgroup label="With the mistake">{of_mistakes}</optgroup></select></label>
<button type="reset">Show all</button>
</form>
<p id="count" role="status" aria-live="polite"></p>
<div class="scroll" role="region" aria-labelledby="students" tabindex="0">
<table id="table"><caption>Points. A click on a heading sorts. – not handed in · stub: handed in
untouched · error: could not be loaded · ? could not be graded</caption>
<thead></thead><tbody></tbody></table></div>
<nav class="pages" aria-label="Pages of the table"><button type="button" id="first">First</button>
<button type="button" id="previous">Previous</button> <span id="page"></span>
<button type="button" id="next">Next</button> <button type="button" id="last">Last</button></nav>"""


def _data(summary: Summary, groups: dict[str, list[Row]], common: Sequence[Kind]) -> str:
    """What the table shows, as JSON that no name can end early: "<", ">" and "&" are written out."""
    numbers = {kind: index for index, kind in enumerate(common)}
    members: dict[int, list[int]] = {}
    for index, rows in enumerate(groups.values()):
        for row in rows:
            members.setdefault(id(row), []).append(index)
    data = {
        "feedback": FEEDBACK,
        "max": summary.max_points,
        "exercises": [[exercise.folder[:2], exercise.title, exercise.max_points] for exercise in summary.exercises],
        "rows": [
            [
                inert(row.student.id),
                "" if row.student.name == row.student.id else inert(row.student.name),
                address(row),
                row.points,
                row.total,
                row.states,
                members.get(id(row), ()),
                [numbers[kind] for kind in row.diagnoses if kind in numbers],
            ]
            for row in summary.rows
        ],
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
