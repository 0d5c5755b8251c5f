"""Draws curves and points as still pictures, in the places where chart.js and plane.js draw them."""

import math
from collections.abc import Iterator, Mapping, Sequence

from grader.integrations.figures.still_shapes import Dot, Line, Still, Text
from grader.judge.figure import Curves, Points, plain

NAME = 22  # pixels for the name above the drawing
CHART, LEFT, RIGHT, TOP, BOTTOM = (380, 230), 60, 14, 12, 38
PLANE, MARGIN = 300, 30
KEY = 28  # pixels: the sample of a curve in the legend


def drawn(drawing: Curves | Points) -> Still:
    """The picture of curves or points."""
    return _chart(drawing) if isinstance(drawing, Curves) else _plane(drawing)


def _chart(chart: Curves) -> Still:
    width, height = CHART
    values = [value for curve in chart.curves.values() for value in curve]
    least = min(values) if chart.least is None else chart.least
    low, high = _bent(least, chart.log), _bent(max(values), chart.log)
    first, last = _bent(chart.x[0], chart.log_x), _bent(chart.x[-1], chart.log_x)

    def x_of(value: float) -> float:
        return LEFT + (_bent(value, chart.log_x) - first) / (last - first or 1) * (width - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return height - BOTTOM - (_bent(value, chart.log) - low) / (high - low or 1) * (height - TOP - BOTTOM) + NAME

    texts, lines = [], []
    for value in _ticks(low, high, chart.base if chart.log else None):
        texts.append(Text(LEFT - 6, round(y_of(value) + 4, 1), chart.tick(value), "end"))
        lines.append(_line([(LEFT, y_of(value)), (width - RIGHT, y_of(value))], "grid"))
    below = height - BOTTOM + NAME
    for value, anchor in zip((chart.x[0], chart.x[(len(chart.x) - 1) // 2], chart.x[-1]), ("start", "middle", "end")):
        texts.append(Text(round(x_of(value), 1), below + 16, plain(value), anchor))
    texts.append(Text((LEFT + width - RIGHT) / 2, height + NAME - 6, chart.x_label))
    if chart.at is not None:
        lines.append(_line([(x_of(chart.at), TOP + NAME), (x_of(chart.at), below)], "now"))
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
