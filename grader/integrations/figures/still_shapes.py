"""The shapes of a still picture, which the template writes as SVG."""

from dataclasses import dataclass, field


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
