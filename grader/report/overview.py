"""All exercises of one learner on one page: state, last verdict, pictures, hints left, the way to the lesson."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from grader.pictures import Picture
from grader.report.html import verdict
from grader.report.page import document, escape
from grader.results import ExerciseResult

SIGNS = {"passed": ("✔", "passed"), "begun": ("…", "likely"), "not started": ("–", "waiting")}
TITLE = "Attention, by hand: your report"


@dataclass(frozen=True)
class Entry:
    """What the page tells of one exercise. `row`: as grader.desk.standing gives it; `lesson`: a relative address."""

    row: dict
    result: ExerciseResult | None
    pictures: tuple[Picture, ...]
    hints: int
    hints_left: int
    lesson: str


def page(entries: Sequence[Entry], tracks: Sequence[dict], now: float) -> str:
    """The whole page; it needs no script."""
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    parts = [f'<p class="faint">Made on <time>{made}</time> from the files as they are.</p>']
    parts.append('<section aria-labelledby="standing"><h2 id="standing">Where you stand</h2>')
    parts += [_track(track) for track in tracks]
    parts += [_table(entries), "</section>"]
    parts.append('<section aria-labelledby="verdicts"><h2 id="verdicts">Verdicts and pictures</h2>')
    parts += [_exercise(entry) for entry in entries]
    return document(TITLE, "\n".join([*parts, "</section>"]))


def _track(track: dict) -> str:
    points = f"{track['points']:g} of {track['max_points']:g} points"
    words = f"{escape(track['track'])} track: {track['passed']} of {track['exercises']} passed, {points}"
    bar = f'<meter min="0" max="{track["max_points"]:g}" value="{track["points"]:g}" aria-label="{words}"></meter>'
    return f"<p>{bar} {words}</p>"


def _table(entries: Sequence[Entry]) -> str:
    rows = "\n".join(_row(entry) for entry in entries)
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="Table of all exercises"><table>
<caption>All exercises. A name leads to its verdict below.</caption>
<thead><tr><th scope="col">Exercise</th><th scope="col">State</th><th scope="col" class="number">Points</th>
<th scope="col" class="number">Tries</th><th scope="col">First passed</th><th scope="col" class="number">Hints left</th>
<th scope="col">Lesson</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _row(entry: Entry) -> str:
    row = entry.row
    day = time.strftime("%Y-%m-%d", time.localtime(row["first_pass"])) if row["first_pass"] is not None else "–"
    return (
        f'<tr><th scope="row"><a href="#{_anchor(row)}">{escape(_name(row))}</a></th><td>{_state(row)}</td>'
        f'<td class="number">{row["points"]:g}/{row["max_points"]:g}</td><td class="number">{row["attempts"]}</td>'
        f'<td>{day}</td><td class="number">{entry.hints_left} of {entry.hints}</td>'
        f'<td><a href="{escape(entry.lesson)}">Lesson {row["exercise"][:2]}</a></td></tr>'
    )


def _exercise(entry: Entry) -> str:
    row, number = entry.row, entry.row["exercise"][:2]
    hints = f"{entry.hints_left} of {entry.hints} hints left"
    way = f'<a href="{escape(entry.lesson)}">Lesson {number}</a>'
    parts = [f'<section id="{_anchor(row)}" aria-labelledby="{_anchor(row)}-name" tabindex="-1">']
    parts.append(f'<h3 id="{_anchor(row)}-name">{escape(_name(row))}</h3>')
    commands = f"<code>make check EX={number}</code>, <code>make hint EX={number}</code>"
    parts.append(f"<p>{_state(row)} · {hints} · {way} · {commands}</p>")
    if entry.result is not None and entry.result.started:
        done = row["status"] == "passed"
        parts.append(f"<details{'' if done else ' open'}><summary>Verdict and pictures of exercise {number}</summary>")
        parts += [verdict(entry.result, "full", entry.pictures, heading=4), "</details>"]
    return "\n".join([*parts, "</section>"])


def _state(row: dict) -> str:
    sign, look = SIGNS[row["status"]]
    return f'<span class="outcome {look}"><span aria-hidden="true">{sign}</span> {escape(row["status"])}</span>'


def _name(row: dict) -> str:
    return f"{row['exercise'][:2]} {row['title']}"


def _anchor(row: dict) -> str:
    return f"exercise-{row['exercise'][:2]}"
