"""Pictures of matrices: blocks in the terminal, and inline SVG with a table of the same numbers."""

import dataclasses
import functools
import math
import textwrap
from collections.abc import Iterator, Sequence

from markupsafe import Markup
from rich.style import Style
from rich.text import Text

from grader.judge.pictures import Matrix, Picture
from grader.reports import templating
from grader.reports.templating import escape

# White is 0, blue is more, orange is less: colour-blind people can distinguish them too.
HEAT = {name: tuple(bytes.fromhex(colour[1:])) for name, colour in templating.palette()["heat"].items()}
ZERO, MORE, LESS, NO_NUMBER = (HEAT[name] for name in ("zero", "more", "less", "no_number"))
DARK, LIGHT = (0, 0, 0), (255, 255, 255)
LINE = templating.palette()["line"][0]
ROUNDING = 1e-4  # printed numbers have four digits
WIDTH = 80
NUMBER = 3  # characters of a cell; a space follows, without the colour where the panel ends
LABEL = 7  # characters of a row's name at most
CELL, LETTER, TOP = 40, 7.2, 20  # SVG units: a cell's side, a letter's width, the space for the caption
MAX_NAME = 10  # characters of a token on an axis
Names = tuple[str, ...]  # of rows or columns
Colour = tuple[int, ...]  # red, green and blue, 0 to 255


def background(value: float, scale: float) -> Colour:
    """The colour of a value. ±scale and all values beyond have the darkest colours."""
    if math.isnan(value):
        return NO_NUMBER
    share = min(abs(value) / scale, 1.0)
    return tuple(round(zero + (end - zero) * share) for zero, end in zip(ZERO, MORE if value >= 0 else LESS))


@functools.lru_cache(maxsize=4096)
def foreground(colour: Colour) -> Colour:
    """Dark or light, whichever reads better on this colour: the contrast is at least 4.5."""
    return max((DARK, LIGHT), key=lambda text: contrast(text, colour))


def contrast(colour: Colour, background: Colour) -> float:
    """The contrast of two colours as WCAG defines it, 1 to 21."""
    light, dark = sorted((_luminance(colour), _luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def hexadecimal(colour: Colour) -> str:
    """A colour as CSS writes it: #rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def short(value: float, width: int = 4) -> str:
    """A number in at most `width` ≥ 3 characters: .24, 1.0, -.3, 11, 0, nan, inf; >> or << where it needs more."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-∞"
    for decimals in range(2, -1, -1):
        text = f"{value:.{decimals}f}"
        if float(text) == 0:
            return "0"
        text = text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
        if len(text) <= width:
            return text
    return ">>" if value > 0 else "<<"


def exact(value: float) -> str:
    """A number with four decimals, as the lessons print it, so that a column of them is aligned."""
    text = f"{value:.4f}"
    return text.removeprefix("-") if float(text) == 0 else text


def panels(picture: Picture) -> list[tuple[str, Matrix]]:
    """(caption, values): yours, expected and difference; only expected where the learner's code gave nothing."""
    picture = print_alike(picture)
    expected = ("expected", picture.expected)
    if picture.learner is None or picture.difference is None:
        return [expected]
    return [("yours", picture.learner), expected, ("difference", picture.difference)]


def print_alike(picture: Picture) -> Picture:
    """Return the picture with the expected number wherever the learner's differs by rounding alone.

    Else one of two equal numbers could be rounded up and the other one down: .95 beside .94.
    """
    if picture.learner is None:
        return picture
    learner = tuple(
        tuple(expected if abs(got - expected) < ROUNDING else got for got, expected in zip(*rows))
        for rows in zip(picture.learner, picture.expected)
    )
    return dataclasses.replace(picture, learner=learner)


def distance(picture: Picture) -> str:
    """The distance of the learner's matrix from the expected one, in words."""
    if picture.largest_difference is None:
        return "Your code gave no such matrix."
    largest = f"below {ROUNDING:g}" if is_right(picture) else f"{picture.largest_difference:.2g}"
    return f"Largest difference: {largest}."


def is_right(picture: Picture) -> bool:
    """Whether the learner's matrix is the expected one, but for rounding."""
    return picture.largest_difference is not None and picture.largest_difference < ROUNDING


def words_below(picture: Picture) -> str:
    """The picture's note. It describes the expected matrix, and says so where the learner's is another one."""
    if not picture.note or picture.learner is None or is_right(picture):
        return picture.note
    return f"Expected: {picture.note}"


def render(picture: Picture, width: int = WIDTH, note: bool = True) -> list[Text]:
    """The picture as lines of at most `width` characters, whose numbers are readable without colours too.

    note: whether the picture's note follows.
    """
    lines = [Text(picture.title, "bold")]
    label_width = min(max(map(len, picture.rows)), LABEL)
    per_row = max(1, (width - label_width) // _width(picture))  # panels side by side
    all_panels = panels(picture)
    for start in range(0, len(all_panels), per_row):
        lines += _row(picture, all_panels[start : start + per_row], label_width)
    if picture.learner is not None:
        lines.append(Text(distance(picture), "dim"))
    style = "yellow" if picture.learner is None else "dim"
    words = words_below(picture).splitlines() if note else []
    return [*lines, *(Text(line, style) for text in words for line in textwrap.wrap(text, width)), Text()]


def all_lines(pictures: Sequence[Picture], width: int = WIDTH) -> list[Text]:
    """Several pictures one below the other."""
    return [line for picture, note in _noted(pictures) for line in render(picture, width, note)]


def figures(pictures: Sequence[Picture]) -> Markup:
    """Several pictures."""
    return Markup("\n").join(figure(picture, note) for picture, note in _noted(pictures))


def figure(picture: Picture, note: bool = True) -> Markup:
    """A <figure> with the panels of a picture and the table of its numbers: one panel where they are as expected.

    note: whether the note is shown.
    """
    facts = (picture.title, picture.rows, picture.columns, picture.scale)
    shown = [("yours, as expected", picture.expected)] if is_right(picture) else panels(picture)
    drawn = [
        (caption, [map(exact, row) for row in matrix], _image(*facts, caption, matrix)) for caption, matrix in shown
    ]
    return templating.macro("reports/templates/figures.html", "figure")(
        picture, drawn, distance(picture), words_below(picture) if note else ""
    )


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
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LINE}"/>')
            number = hexadecimal(foreground(colour))
            parts.append(_text(x + CELL / 2, y + 0.6 * CELL, short(value), number))
    return Markup("".join([*parts, "</svg>"]))  # every text in it was escaped


def _noted(pictures: Sequence[Picture]) -> Iterator[tuple[Picture, bool]]:
    """Each picture, and whether its note is shown: one that follows itself is shown once."""
    notes = [words_below(picture) for picture in pictures]
    return ((picture, note != before) for picture, note, before in zip(pictures, notes, [None, *notes]))


def _luminance(colour: Colour) -> float:
    """The relative luminance of a colour as WCAG defines it, 0 to 1."""
    shares = (channel / 255 for channel in colour)
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _row(picture: Picture, row_panels: list[tuple[str, Matrix]], label_width: int) -> list[Text]:
    names = "".join(_name(name, NUMBER, "").rjust(NUMBER) + " " for name in picture.columns).ljust(_width(picture))
    margin = " " * (label_width + 1)
    captions = margin + "".join(caption.ljust(_width(picture)) for caption, _ in row_panels)
    lines = [Text(captions.rstrip()), Text((margin + names * len(row_panels)).rstrip(), "dim")]
    for i, name in enumerate(picture.rows):
        line = Text().append(f"{name[:label_width]:>{label_width}} ", "dim")
        for _, matrix in row_panels:
            for value in matrix[i]:
                colour = background(value, picture.scale)
                style = Style(color=hexadecimal(foreground(colour)), bgcolor=hexadecimal(colour))
                line.append(short(value, NUMBER).rjust(NUMBER) + " ", style)
            line.right_crop(1)
            line.append(" " * (1 + _width(picture) - (NUMBER + 1) * len(picture.columns)))
        line.rstrip()
        lines.append(line)
    return lines


def _width(picture: Picture) -> int:
    """The characters of one panel with the space after it."""
    return max((NUMBER + 1) * len(picture.columns), len("difference "))


def _text(x: float, y: float, text: str, fill: str, anchor: str = "middle", size: int = 13) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _description(rows: Names, columns: Names, matrix: Matrix) -> str:
    """A text for screen readers: the largest number of each row."""
    cells = (max(zip(row, columns), key=lambda cell: (cell[0] == cell[0], cell[0])) for row in matrix)
    largest = "; ".join(f"{name}: {column} {short(value)}" for name, (value, column) in zip(rows, cells))
    return f"{len(rows)} rows, {len(columns)} columns. The largest of each row: {largest}."


def _name(name: str, most: int = MAX_NAME, more: str = "…") -> str:
    """A token in at most so many characters. A numbered one keeps its number. more: what stands for the rest."""
    word, _, number = name.rpartition(" ")
    end = number if word and number.isdigit() else more
    return name if len(name) <= most else f"{name[: most - len(end)]}{end}"
