"""A picture as inline SVG in HTML, with a table of the same numbers for those who do not see it."""

import functools
from collections.abc import Sequence

from grader.pictures import Matrix, Picture
from grader.pictures.colours import background, foreground, hexadecimal, short
from grader.pictures.panels import distance, panels
from grader.report.page import escape

CELL, LETTER, TOP = 40, 7.2, 20
MAX_NAME = 10  # characters of a token on an axis


def figures(pictures: Sequence[Picture]) -> str:
    """Several pictures; what is said of all of them is said at the first."""
    before = [None, *(picture.note for picture in pictures)]
    return "\n".join(figure(picture, picture.note != said) for picture, said in zip(pictures, before))


def figure(picture: Picture, note: bool = True) -> str:
    """A <figure>: its panels, what they show, and the table. It holds no script, no style and no request."""
    parts = ['<figure class="picture">', f"<figcaption><strong>{escape(picture.title)}</strong></figcaption>"]
    parts.append('<div class="panels">')
    known = (picture.title, picture.rows, picture.columns, picture.scale)
    parts += [_panel(*known, caption, matrix) for caption, matrix in panels(picture)]
    parts.append("</div>")
    parts.append(f"<p>{escape(distance(picture))}</p>")
    if note and picture.note:
        look = ' class="message"' if picture.learner is None else ""
        parts.append(f"<p{look}>{escape(picture.note)}</p>")
    tables = "\n".join(_table(picture, caption, matrix) for caption, matrix in panels(picture))
    parts.append(f"<details><summary>The numbers of “{escape(picture.title)}”</summary>\n{tables}\n</details>")
    return "\n".join([*parts, "</figure>"])


@functools.lru_cache(maxsize=512)  # the expected panel is the same for a whole class
def _panel(name: str, rows: tuple, columns: tuple, scale: float, caption: str, matrix: Matrix) -> str:
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
    return "".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, fill: str, anchor: str = "middle", size: int = 13) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _table(picture: Picture, caption: str, matrix: Matrix) -> str:
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in picture.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td class=number>{value:.4g}</td>" for value in row)}</tr>'
        for name, row in zip(picture.rows, matrix)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(f"{picture.title}: {caption}, table")}">'
        f"<table><caption>{escape(caption)}</caption>\n"
        f'<thead><tr><th scope="col">token</th>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )


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
