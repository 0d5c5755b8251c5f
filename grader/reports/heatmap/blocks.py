"""A picture in the terminal: coloured blocks with their numbers, tokens on both axes."""

import textwrap

from rich.style import Style
from rich.text import Text

from grader.judge.pictures import Matrix, Picture
from grader.reports.heatmap.colours import background, foreground, hexadecimal, short
from grader.reports.heatmap.panels import distance, panels

WIDTH = 80
NUMBER = 3  # characters of a cell; a space follows, between two panels without its colour
LABEL = 7


def render(picture: Picture, width: int = WIDTH, note: bool = True) -> list[Text]:
    """The picture as lines of at most `width` characters; without colours the numbers stay."""
    lines = [Text(picture.title, "bold")]
    label = min(max(map(len, picture.rows)), LABEL)
    together = max(1, (width - label) // _width(picture))  # panels side by side
    shown = panels(picture)
    for start in range(0, len(shown), together):
        lines += _row(picture, shown[start : start + together], label)
    if picture.learner is not None:
        lines.append(Text(distance(picture), "dim"))
    style = "yellow" if picture.learner is None else "dim"
    told = [line for text in picture.note.splitlines() for line in textwrap.wrap(text, width)] if note else []
    return [*lines, *(Text(line, style) for line in told), Text()]


def _row(picture: Picture, shown: list[tuple[str, Matrix]], label: int) -> list[Text]:
    names = "".join(_shortened(name).rjust(NUMBER) + " " for name in picture.columns).ljust(_width(picture))
    margin = " " * (label + 1)
    captions = margin + "".join(caption.ljust(_width(picture)) for caption, _ in shown)
    lines = [Text(captions.rstrip()), Text((margin + names * len(shown)).rstrip(), "dim")]
    for i, name in enumerate(picture.rows):
        line = Text().append(f"{name[:label]:>{label}} ", "dim")
        for _, matrix in shown:
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
    """Of one panel with the space after it."""
    return max((NUMBER + 1) * len(picture.columns), len("difference "))


def _shortened(name: str) -> str:
    """A token in three characters; a numbered one keeps its number."""
    number = name.split()[-1]
    return f"{name[0]}{number}"[:NUMBER] if number.isdigit() else name[:NUMBER]
