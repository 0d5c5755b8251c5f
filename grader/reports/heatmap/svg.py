"""A picture as inline SVG in HTML, with a table of the same numbers for readers who cannot see it.

The SVG is written by hand: every shape is placed by arithmetic, which a template would hide. matplotlib is slow, an
extra, and draws nothing that a screen reader could read.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grader.judge.pictures import Matrix, Picture
from grader.reports import templating
from grader.reports.heatmap.colours import background, exact, foreground, hexadecimal, short
from grader.reports.heatmap.panels import distance, panels
from grader.reports.templating import escape

CELL, LETTER, TOP = 40, 7.2, 20  # SVG units: a cell's side, a letter's width, the space for the caption
MAX_NAME = 10  # characters of a token on an axis

Names = tuple[str, ...]  # of rows or columns


@dataclass(frozen=True)
class Panel:
    """One matrix: its caption, its numbers as a table prints them, and the <svg> that shows them."""

    caption: str
    texts: tuple[tuple[str, ...], ...]
    image: Markup


def figures(pictures: Sequence[Picture]) -> Markup:
    """Several pictures. A note that follows itself is shown once."""
    notes_before = [None, *(picture.note for picture in pictures)]
    return Markup("\n").join(figure(picture, picture.note != before) for picture, before in zip(pictures, notes_before))


def figure(picture: Picture, note: bool = True) -> Markup:
    """A <figure> with the panels of a picture and the table of its numbers. note: whether the note is shown."""
    facts = (picture.title, picture.rows, picture.columns, picture.scale)
    drawn = [
        Panel(caption, tuple(tuple(map(exact, row)) for row in matrix), _image(*facts, caption, matrix))
        for caption, matrix in panels(picture)
    ]
    return templating.macro("reports/heatmap/templates/figures.html", "figure")(picture, drawn, distance(picture), note)


@functools.lru_cache(maxsize=512)  # the expected panel is the same for a whole class
def _image(name: str, rows: Names, columns: Names, scale: float, caption: str, matrix: Matrix) -> Markup:
    """One matrix as an image with a name and a description."""
    margin = round(LETTER * max(len(_name(row)) for row in rows)) + 8
    width, height = margin + CELL * len(columns), TOP + CELL * (len(rows) + 1)
    title = escape(f"{name}: {caption}")
    parts = [f'<svg role="img" viewBox="0 0 {width} {height}" aria-label="{title}" font-size="13">']
    parts.append(f"<title>{title}</title><desc>{escape(_description(rows, columns, matrix))}</desc>")
    parts.append(f'<text x="{margin}" y="14" fill="currentColor" font-weight="600">{escape(caption)}</text>')
    for j, token in enumerate(columns):
        parts.append(_text(margin + CELL * (j + 0.5), TOP + 0.6 * CELL, _name(token, 5), "currentColor", size=12))
    for i, token in enumerate(rows):
        y = TOP + CELL * (i + 1)
        parts.append(_text(margin - 6, y + 0.6 * CELL, _name(token), "currentColor", "end", 12))
        for j, value in enumerate(matrix[i]):
            colour = background(value, scale)
            fill, x = hexadecimal(colour), margin + CELL * j
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#c4c6cc"/>')
            number = hexadecimal(foreground(colour))
            parts.append(_text(x + CELL / 2, y + 0.6 * CELL, short(value), number))
    return Markup("".join([*parts, "</svg>"]))  # every text in it was escaped


def _text(x: float, y: float, text: str, fill: str, anchor: str = "middle", size: int = 13) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _description(rows: Names, columns: Names, matrix: Matrix) -> str:
    """A text for screen readers: the largest number of each row."""
    largest = []
    for name, row in zip(rows, matrix):
        column = max(range(len(row)), key=lambda j: (row[j] == row[j], row[j]))
        largest.append(f"{name}: {columns[column]} {short(row[column])}")
    return f"{len(rows)} rows, {len(columns)} columns. The largest of each row: {'; '.join(largest)}."


def _name(name: str, max_length: int = MAX_NAME) -> str:
    """A token in at most `max_length` characters. A numbered one keeps its number."""
    if len(name) <= max_length:
        return name
    number = name.split()[-1]
    return f"{name[: max_length - len(number) - 1]}{number}" if number.isdigit() else f"{name[: max_length - 1]}…"
