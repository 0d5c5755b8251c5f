"""The HTML of a figure in a page of the site, with a still picture of what it shows first."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from grader.judge import figure
from grader.judge.figure import Curves, Points, plain
from grader.reports.templating import render

NAME = 22  # pixels for the name above the drawing
CHART, LEFT, RIGHT, MARGIN_TOP, BOTTOM = (380, 230), 60, 14, 12, 38
PLANE, MARGIN = 300, 30
KEY = 28  # pixels: the sample of a curve in the legend
TEMPLATE = "integrations/figures/templates/figure.html"
# A paragraph, or a list or a quotation, in which no figure is placed.
BLOCK = re.compile(r"<(?P<around>ul|ol|blockquote|details|table)\b.*?</(?P=around)>|<p>.*?</p>", re.S)
CELL, LINE, TOP = 58, 26, 24  # pixels: a cell's width and its height, the name's height
LETTER, NAME_LETTER = 7, 10  # pixels: the width of a letter, and of a bold one


@dataclass(frozen=True)
class Text:
    """Words at a place of the picture."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Cell:
    """One number, with a bar whose length is its share of the largest."""

    x: float
    y: float
    text: str
    bar: float


@dataclass(frozen=True)
class Line:
    """Points joined by a line: "x,y x,y". look: its class in figures.css."""

    points: str
    look: str
    width: float | None = None  # pixels; None for the width of its class


@dataclass(frozen=True)
class Dot:
    """A point. look: its class in figures.css."""

    x: float
    y: float
    size: float
    look: str


@dataclass(frozen=True)
class Still:
    """One matrix, chart or plane as an SVG shows it. Later shapes lie on earlier ones, dots on lines."""

    name: str
    label: str
    width: float
    height: float
    texts: list[Text]
    cells: list[Cell] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)


def drawn(drawing: Curves | Points) -> Still:
    """The picture of curves or points."""
    return _chart(drawing) if isinstance(drawing, Curves) else _plane(drawing)


def placed(page: str, folder: str, script: str = "") -> str:
    """The page of a lesson with its figure after the first paragraph of the text.

    script: the address of its script; "" where the page holds it.
    """
    stills = [_still(matrix) for matrix in figure.start(folder)]
    stills += [drawn(drawing) for drawing in figure.drawings(folder)]
    facts = {"title": figure.figure(folder).title, "pictures": stills, "data": figure.data(folder)}
    html = render(TEMPLATE, **facts, script=script, cell_width=CELL, cell_height=LINE)
    title_ends = page.index("</h1>") + len("</h1>")
    paragraphs = (block for block in BLOCK.finditer(page, title_ends) if not block["around"])
    place = next((paragraph.end() for paragraph in paragraphs), title_ends)
    return f"{page[:place]}\n{html}{page[place:]}"


def _chart(chart: Curves) -> Still:
    width, height = CHART
    values = [value for curve in chart.curves.values() for value in curve]
    least = min(values) if chart.least is None else chart.least
    low, high = _bent(least, chart.log), _bent(max(values), chart.log)
    first, last = _bent(chart.x[0], chart.log_x), _bent(chart.x[-1], chart.log_x)

    def x_of(value: float) -> float:
        return LEFT + (_bent(value, chart.log_x) - first) / (last - first or 1) * (width - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return (
            height
            - BOTTOM
            - (_bent(value, chart.log) - low) / (high - low or 1) * (height - MARGIN_TOP - BOTTOM)
            + NAME
        )

    texts, lines = [], []
    for value in _ticks(low, high, chart.base if chart.log else None):
        texts.append(Text(LEFT - 6, round(y_of(value) + 4, 1), chart.tick(value), "end"))
        lines.append(_line([(LEFT, y_of(value)), (width - RIGHT, y_of(value))], "grid"))
    below = height - BOTTOM + NAME
    for value, anchor in zip((chart.x[0], chart.x[(len(chart.x) - 1) // 2], chart.x[-1]), ("start", "middle", "end")):
        texts.append(Text(round(x_of(value), 1), below + 16, plain(value), anchor))
    texts.append(Text((LEFT + width - RIGHT) / 2, height + NAME - 6, chart.x_label))
    if chart.at is not None:
        lines.append(_line([(x_of(chart.at), MARGIN_TOP + NAME), (x_of(chart.at), below)], "now"))
    keys, names = _legend(LEFT, height + NAME, {name: f"curve curve-{i}" for i, name in enumerate(chart.curves)})
    for i, (curve, key) in enumerate(zip(chart.curves.values(), keys)):
        lines += [_line([(x_of(x), y_of(y)) for x, y in zip(chart.x, curve)], f"curve curve-{i}"), key]
    texts += names
    spoken = "; ".join(f"{name}: from {chart.tick(y[0])} to {chart.tick(y[-1])}" for name, y in chart.curves.items())
    return Still(chart.name, f"{chart.name}. {spoken}", width, height + NAME + 20, texts, lines=lines)


def _plane(plane: Points) -> Still:
    (low_x, low_y), (high_x, high_y) = plane.low, plane.high
    inside = PLANE - 2 * MARGIN

    def place(x: float, y: float) -> tuple[float, float]:
        across, up = (x - low_x) / (high_x - low_x), (y - low_y) / (high_y - low_y)
        return MARGIN + across * inside, PLANE - MARGIN - up * inside + NAME

    x_0, y_0 = place(max(0.0, low_x), max(0.0, low_y))
    end = PLANE - MARGIN / 2
    lines = [
        _line([(x_0, MARGIN / 2 + NAME), (x_0, end + NAME)], "axis"),
        _line([(MARGIN / 2, y_0), (end, y_0)], "axis"),
    ]
    texts = [Text(PLANE - 4, PLANE + NAME - 8, plane.x_label, "end"), Text(6, NAME + 12, plane.y_label, "start")]
    dots = []
    for point in plane.points:
        x, y = place(point.x, point.y)
        lines += [_line([place(*to), (x, y)], "pull", width) for to, width in point.pulled_to]
        if point.kind == "arrow":
            lines.append(_line([(x_0, y_0), (x, y)], f"arrow {point.look}"))
        if point.kind == "cross":
            lines += [_line([(x - 7, y + way), (x + 7, y - way)], "cross") for way in (-7, 7)]
        else:
            dots.append(Dot(round(x, 2), round(y, 2), round(point.size, 2), f"{point.kind} {point.look}"))
        if point.kind == "arrow":  # its end may lie on that of another one: the legend names it
            continue
        right = x < PLANE - 70
        across = (1 if right else -1) * (point.size + 4)
        below = 14 if point.below else -5
        texts.append(Text(round(x + across, 1), round(y + below, 1), point.name, "start" if right else "end"))
    spoken = "; ".join(f"{point.name} at {_two(point.x)}, {_two(point.y)}" for point in plane.points if point.name)
    arrows = {point.name: f"arrow {point.look}" for point in plane.points if point.kind == "arrow"}
    keys, names = _legend(MARGIN, PLANE + NAME, arrows)
    height = PLANE + NAME + (20 if arrows else 0)
    return Still(plane.name, f"{plane.name}. {spoken}", PLANE, height, texts + names, lines=lines + keys, dots=dots)


def _legend(left: float, top: float, looks: Mapping[str, str]) -> tuple[list[Line], list[Text]]:
    """A sample of each line, and its name beside it. looks: the class of a line by its name."""
    lines, texts = [], []
    for name, look in looks.items():
        lines.append(_line([(left, top + 8), (left + KEY, top + 8)], look))
        texts.append(Text(left + KEY + 5, top + 12, name, "start"))
        left += KEY + 20 + 7 * len(name)
    return lines, texts


def _bent(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _ticks(low: float, high: float, base: int | None) -> Iterator[float]:
    """Round numbers between two. base: whose powers are meant, where the two are exponents of 10; None for steps."""
    if base is None:
        rough = (high - low or 1) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        yield from (i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1))
    else:
        one = math.log10(base)
        yield from (float(base**i) for i in range(math.ceil(low / one - 1e-9), math.floor(high / one + 1e-9) + 1))


def _line(points: Sequence[tuple[float, float]], look: str, width: float | None = None) -> Line:
    return Line(" ".join(f"{x:.1f},{y:.1f}" for x, y in points), look, width)


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _still(matrix: figure.Shown) -> Still:
    rows, columns = matrix.start.rows, matrix.start.columns
    margin = LETTER * max((len(name) for name in rows), default=0) + 8 if rows else 0
    top = TOP + (18 if columns else 0)
    texts = [Text(margin + CELL * (j + 0.5), TOP + 12, name) for j, name in enumerate(columns)]
    texts += [Text(margin - 6, top + LINE * i + 18, name, "end") for i, name in enumerate(rows)]
    largest = matrix.values.nan_to_num().abs().max().item() or 1.0
    cells = [
        Cell(margin + CELL * j, top + LINE * i, _printed(value, matrix), round(CELL * abs(value) / largest, 1))
        for i, row in enumerate(matrix.values.tolist())
        for j, value in enumerate(row)
        if value == value
    ]
    width, height = margin + CELL * matrix.values.shape[1], top + LINE * matrix.values.shape[0]
    label = f"{matrix.name}: {'; '.join(' '.join(_printed(x, matrix) for x in row) for row in matrix.values.tolist())}"
    return Still(matrix.name, label, max(width, NAME_LETTER * len(matrix.name)) + 1, height + 1, texts, cells)


def _printed(value: float, matrix: figure.Shown) -> str:
    """A number with four digits after the point, or as a whole number where all are."""
    values = matrix.values[~torch.isnan(matrix.values)]
    text = f"{value:.0f}" if bool((values == values.round()).all()) else f"{value:.4f}"
    return "" if value != value else text.replace("-", "−")
