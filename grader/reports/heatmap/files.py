"""Pictures as one PNG, SVG or PDF file, drawn by matplotlib (extra "plot")."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.catalog import extras
from grader.catalog.errors import WrongUse
from grader.judge.pictures import Matrix, Picture
from grader.reports.heatmap.colours import LESS, MORE, NO_NUMBER, ZERO, background, foreground, hexadecimal, short
from grader.reports.heatmap.panels import panels

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
INCHES = 3.2  # width of a panel


def save(pictures: Sequence[Picture], path: Path) -> None:
    """Write all pictures to one file, a row each. Raises WrongUse where that cannot be done."""
    if path.suffix.lower() not in FORMATS:
        raise WrongUse(f"{path} is none of {', '.join(FORMATS)}. Type for example: OUTPUT=attention.png")
    try:
        import matplotlib
    except ImportError:
        raise extras.missing("Pictures as files need matplotlib", "plot") from None
    # "agg" draws without a screen; SVG text stays text; a learner's $ is no formula.
    with matplotlib.rc_context({"svg.fonttype": "none", "text.parse_math": False, "font.size": 8}):
        figure = _figure(pictures)
        try:
            figure.savefig(path, dpi=150)
        except OSError as error:
            raise WrongUse(f"{path} cannot be written: {error.strerror or error}") from None


def _figure(pictures: Sequence[Picture]) -> "Figure":
    """A figure with a row of panels for each picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 * INCHES, INCHES * 1.15 * len(pictures)), layout="constrained")
    FigureCanvasAgg(figure)
    for row, picture in zip(figure.subfigures(len(pictures), 1, squeeze=False)[:, 0], pictures):
        note = picture.note.partition("\n")[0]
        row.suptitle(f"{picture.title}\n{note[:110]}", fontsize=9)
        for axes, (caption, matrix) in zip(row.subplots(1, 3), _three(picture)):
            _panel(axes, picture, caption, matrix)
    return figure


def _three(picture: Picture) -> list[tuple[str, Matrix | None]]:
    """Always three panels, so that the panels of all rows are aligned. One that is absent has no matrix."""
    own_panels = panels(picture)
    return own_panels if len(own_panels) == 3 else [("yours: none", None), *own_panels, ("difference: none", None)]


def _panel(axes: "Axes", picture: Picture, caption: str, matrix: Matrix | None) -> None:
    """Draw one panel."""
    from matplotlib.colors import LinearSegmentedColormap

    axes.set_title(caption, fontsize=8)
    if matrix is None:
        axes.set_axis_off()
        return
    ends = [hexadecimal(colour) for colour in (LESS, ZERO, MORE)]
    colours = LinearSegmentedColormap.from_list("attention", ends).with_extremes(bad=hexadecimal(NO_NUMBER))
    axes.imshow(matrix, cmap=colours, vmin=-picture.scale, vmax=picture.scale, aspect="auto")
    axes.set_xticks(range(len(picture.columns)), picture.columns, rotation=45, ha="right")
    axes.set_yticks(range(len(picture.rows)), picture.rows)
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            ink = hexadecimal(foreground(background(value, picture.scale)))
            axes.text(j, i, short(value), ha="center", va="center", color=ink, fontsize=7)
