"""A picture in the terminal: coloured blocks with their numbers, tokens on both axes."""

import textwrap
from collections.abc import Iterable

from rich.style import Style
from rich.text import Text

from grader.judge.pictures import Matrix, Picture
from grader.reports.heatmap.colours import background, foreground, hexadecimal, short
from grader.reports.heatmap.panels import distance, panels

WIDTH = 80
NUMBER = 3  # characters of a cell; a space follows, without the colour where the panel ends
LABEL = 7  # characters of a row's name at most


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
    note_lines = [line for text in picture.note.splitlines() for line in textwrap.wrap(text, width)] if note else []
    return [*lines, *(Text(line, style) for line in note_lines), Text()]


def all_lines(pictures: Iterable[Picture], width: int = WIDTH) -> list[Text]:
    """Several pictures one below the other. A note that they share is shown once."""
    lines: list[Text] = []
    note_before = None
    for picture in pictures:
        lines += render(picture, width, note=picture.note != note_before)
        note_before = picture.note
    return lines


def _row(picture: Picture, row_panels: list[tuple[str, Matrix]], label_width: int) -> list[Text]:
    names = "".join(_shortened(name).rjust(NUMBER) + " " for name in picture.columns).ljust(_width(picture))
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


def _shortened(name: str) -> str:
    """A token in three characters; a numbered one keeps its number."""
    number = name.split()[-1]
    return f"{name[0]}{number}"[:NUMBER] if number.isdigit() else name[:NUMBER]
