"""The charts of the page of a class: inline SVG that a screen reader reads out."""

from collections.abc import Sequence

from markupsafe import Markup

from grader.reports.templating import escape

BAR, GAP, HEIGHT, FLOOR = 18, 4, 72, 88  # of a histogram, in its own units
BIN_NAMES = (*(f"{low} to {low + 9} %" for low in range(0, 100, 10)), "all points")


def histogram(bins: Sequence[int], title: str) -> Markup:
    """A bar chart of the students by their share of the points. bins: as summary.tenths counts them."""
    largest = max(bins) or 1
    counts = [(name, count) for name, count in zip(BIN_NAMES, bins) if count]
    spoken = ", ".join(f"{name}: {count}" for name, count in counts) or "no points yet"
    width = len(bins) * (BAR + GAP)
    shapes = []
    for index, (name, count) in enumerate(zip(BIN_NAMES, bins)):
        x, height = index * (BAR + GAP), round(HEIGHT * count / largest, 2)
        shape = f'<rect x="{x}" y="{FLOOR - height}" width="{BAR}" height="{height}"/>'
        text = f'<text x="{x + BAR / 2}" y="{FLOOR - height - 3}">{_short(count)}</text>' if count else ""
        shapes.append(f"<g><title>{name}: {count} students</title>{shape}{text}</g>")
    return Markup(  # written by hand: every shape is placed by arithmetic, which a template would hide
        f'<svg viewBox="0 0 {width} {FLOOR + 16}" role="img" class="histogram" '
        f'aria-label="{escape(f"{title}, students by share of the points: {spoken}")}">'
        f'{"".join(shapes)}<line x1="0" y1="{FLOOR}" x2="{width}" y2="{FLOOR}"/>'
        f'<text x="0" y="{FLOOR + 13}" class="start">0 %</text>'
        f'<text x="{width - GAP}" y="{FLOOR + 13}" class="end">all</text></svg>'
    )


def _short(count: int) -> str:
    """A number that fits over a bar: "870", "3.1k"."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"
