"""The page of all lessons: what each teaches, how long it takes and how hard it is, as its lesson says."""

import html
import re
from collections.abc import Iterable, Mapping

from grader import catalog
from grader.catalog import paths

TRACKS = {catalog.WARM_UP: "Warm-up", "core": "Core track", "beyond": "Beyond"}
HEAD = """# All lessons

In the order in which they build on each other. Your own progress: `make report`. The times are
[estimates by one rule](self-study.md#how-long-a-lesson-takes).
"""
FACT = re.compile(r"^- \*\*(?P<name>[^*]+)\*\* (?P<text>.*(?:\n  .*)*)", re.M)  # of a lesson's head
ABLE, TIME, DIFFICULTY = "You will be able to", "Time", "Difficulty"
COLUMNS = ("lesson", "you will be able to", "time", "difficulty", "points")


def page(places: Mapping[str, str]) -> str:
    """The page in Markdown. places: folder → the page of its lesson."""
    parts, tracks = [HEAD], dict.fromkeys(exercise.track for exercise in catalog.exercises())
    for track in tracks:
        rows = [row(listed, places[listed.folder]) for listed in catalog.exercises() if listed.track == track]
        parts.append(f"\n## {TRACKS.get(track, track)}\n\n{_line(COLUMNS)}{_line(['---'] * len(COLUMNS))}")
        parts += map(_line, rows)
    return "".join(parts)


def row(exercise: catalog.Exercise, place: str) -> list[str]:
    """The cells of one exercise."""
    lesson = paths.lesson(exercise.folder)
    text = lesson.read_text("utf-8") if lesson.exists() else ""
    facts = {fact["name"]: " ".join(fact["text"].split()) for fact in FACT.finditer(text)}
    name = f"[{exercise.folder[:2]} {exercise.title}]({place})" if text else exercise.title
    time = facts.get(TIME, "").removeprefix("about ").partition(" (")[0]
    return [name, facts.get(ABLE, ""), time, facts.get(DIFFICULTY, ""), f"{exercise.max_points:g}"]


def cards(content: str) -> str:
    """The HTML of the page with each cell's column told in it, so that a phone can show a row as a card."""
    names = iter(())

    def named(tag: re.Match[str]) -> str:
        """A tag of a row or of a cell."""
        nonlocal names
        if tag[0] == "<tr>":
            names = iter(COLUMNS)
            return tag[0]
        return f'<td data-column="{html.escape(next(names, ""))}">'

    return (
        re.sub(r"<tr>|<td>", named, content)
        .replace("<table>", '<div class="cards"><table>')
        .replace("</table>", "</table></div>")
    )


def _line(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
