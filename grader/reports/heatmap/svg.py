"""A picture as inline SVG in HTML, with a table of the same numbers for those who do not see it.

The SVG is written by hand: every shape is placed by arithmetic, which a template would hide. matplotlib is slow, an
extra, and draws nothing that a screen reader could read.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grader.judge.pictures import Matrix, Picture
from grader.reports import templating
from grader.reports.heatmap.colours import background, foreground, hexadecimal, short
from grader.reports.heatmap.panels import distance, panels
from grader.reports.templating import escape

CELL, LETTER, TOP = 40, 7.2, 20
MAX_NAME = 10  # characters of a token on an axis


@dataclass(frozen=True)
class Panel:
    """One matrix: its caption, its numbers, and the <svg> that shows them."""

    caption: str
    matrix: Matrix
    image: Markup


def figures(pictures: Sequence[Picture]) -> Markup:
    """Several pictures; what is said of all of them is said at the first."""
    before = [None, *(picture.note for picture in pictures)]
    return Markup("\n").join(figure(picture, picture.note != said) for picture, said in zip(pictures, before))


def figure(picture: Picture, note: bool = True) -> Markup:
    """A <figure>: its panels, what they show, and the table."""
    known = (picture.title, picture.rows, picture.columns, picture.scale)
    shown = [Panel(caption, matrix, _image(*known, caption, matrix)) for caption, matrix in panels(picture)]
    return templating.macro("reports/heatmap/templates/figures.html", "figure")(picture, shown, distance(picture), note)


@functools.lru_cache(maxsize=512)  # the expected panel is the same for a whole class
def _image(name: str, rows: tuple, columns: tuple, scale: float, caption: str, matrix: Matrix) -> Markup:
    """One matrix as an image with a name and a description."""
    left = round(LETTER * max(len(_name(row)) for row in rows)) + 8
    width, height = left + CELL * len(columns), TOP + CELL * (len(rows) + 1)
    title = escape(f"{name}: {caption}")
    parts = [f'<svg role="img" viewBox="0 0 {width} {height}" aria-label="{title}" font-size="13">']
    parts.append(f"<title>{title}</title><desc>{escape(_description(rows, columns, matrix))}</desc>")
    parts.append(f'<text x="{left}" y="14" fill="currentColor" font-weight="600">{escape(caption)}</text>')
    for j, token in enumerate(columns):
        parts.append(_text(left + CELL * (j + 0.5), TOP + 0.6 * CELL, _name(token, 5), "currentColor", size=12))
    for i, token in enumerate(rows):
        y = TOP + CELL * (i + 1)
        parts.append(_text(left - 6, y + 0.6 * CELL, _name(token), "currentColor", "end", 12))
        for j, value in enumerate(matrix[i]):
            colour = background(value, scale)
            fill, x = hexadecimal(colour), left + CELL * j
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#c4c6cc"/>')
            number = hexadecimal(foreground(colour))
            parts.append(_text(x + CELL / 2, y + 0.6 * CELL, short(value), number))
    return Markup("".join([*parts, "</svg>"]))  # every text in it went through escape


def _text(x: float, y: float, text: str, fill: str, anchor: str = "middle", size: int = 13) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _description(rows: tuple, columns: tuple, matrix: Matrix) -> str:
    """Where each row looks most."""
    most = []
    for name, row in zip(rows, matrix):
        column = max(range(len(row)), key=lambda j: (row[j] == row[j], row[j]))
        most.append(f"{name}: {columns[column]} {short(row[column])}")
    return f"{len(rows)} rows, {len(columns)} columns. The largest of each row: {'; '.join(most)}."


def _name(name: str, most: int = MAX_NAME) -> str:
    if len(name) <= most:
        return name
    number = name.split()[-1]
    return f"{name[: most - len(number) - 1]}{number}" if number.isdigit() else f"{name[: most - 1]}…"
