"""Draws the diagrams of lessons as SVG, for light and dark pages alike: `python -m grader.authoring.diagrams`.

A lesson's diagrams.toml holds a table for each picture, flow.svg for [flow]. Its `steps` stand side by side: a matrix
(`name`, `shape`, `cells`; a cell that begins with * is shaded), a `sign` such as @, or an `arrow` with its words.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from grader.catalog import paths, tomllib
from grader.reports import templating

CELL, ROW, CHARACTER = 14, 26, 8  # pixels: beside a cell's text, of its height, of a monospaced character's width
HEAD, FOOT, GAP, EDGE = 26, 24, 10, 4
COLOURS = ("ink", "quiet", "edge", "more")
STYLE = """
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--ink); text-anchor: middle }
.name { font-weight: 600 }
.shape { fill: var(--quiet) }
rect { fill: none; stroke: var(--edge) }
.shaded { fill: var(--more) }
path { stroke: var(--quiet); fill: none }
"""


def main() -> None:
    """Draw all."""
    for path, svg in draw().items():
        path.write_text(svg, "utf-8")
        print(f"wrote {paths.shown(path)}")


def draw() -> dict[Path, str]:
    """Path → content of every diagram."""
    return {
        source.with_name(f"{name}.svg"): picture(table["steps"])
        for source in sorted(paths.EXERCISES.glob("*/diagrams.toml"))
        for name, table in tomllib.loads(source.read_text("utf-8")).items()
    }


def picture(steps: Sequence[Mapping[str, Any]]) -> str:
    """One diagram, an SVG as wide as its steps and as high as its highest matrix."""
    rows = max(len(step.get("cells", ())) for step in steps)
    height = HEAD + rows * ROW + FOOT
    parts: list[str] = []
    middle, left = HEAD + rows * ROW / 2, float(EDGE)
    for step in steps:
        size = width(step)
        if "cells" in step:
            parts += matrix(step, left, size, middle)
        elif "sign" in step:
            parts.append(words(step["sign"], left + size / 2, middle + 5, "name"))
        else:
            parts += arrow(step["arrow"], left, size, middle)
        left += size + GAP
    total = round(left - GAP + EDGE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" viewBox="0 0 {total} {height}">\n'
        f"<style>\n{templating.colours_of_page(COLOURS)}{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def width(step: Mapping[str, Any]) -> int:
    """The pixels that a step takes from left to right."""
    if "cells" not in step:
        return CHARACTER * len(step.get("sign") or step["arrow"]) + (0 if "sign" in step else GAP)
    return max(len(row) * cell(step) for row in step["cells"])


def cell(step: Mapping[str, Any]) -> int:
    """The width of each cell of a matrix: all are as wide as the widest, and its name and shape have room above."""
    columns = max(map(len, step["cells"]))
    longest = max(len(text.removeprefix("*")) for row in step["cells"] for text in row)
    title = max(len(step["name"]), len(step["shape"]))
    return max(CHARACTER * longest + CELL, -(-CHARACTER * title // columns))


def matrix(step: Mapping[str, Any], left: float, size: int, middle: float) -> Iterator[str]:
    """A matrix with its name above and its shape below."""
    top, wide = middle - len(step["cells"]) * ROW / 2, cell(step)
    yield words(step["name"], left + size / 2, top - 9, "name")
    yield words(step["shape"], left + size / 2, middle + len(step["cells"]) * ROW / 2 + 17, "shape")
    for i, row in enumerate(step["cells"]):
        for j, text in enumerate(row):
            kind = ' class="shaded"' if text.startswith("*") else ""
            x, y = left + j * wide, top + i * ROW
            yield f'<rect x="{x:g}" y="{y:g}" width="{wide}" height="{ROW}"{kind}/>'
            yield words(text.removeprefix("*"), x + wide / 2, y + 17.5)


def arrow(text: str, left: float, size: int, middle: float) -> Iterator[str]:
    """An arrow with words above it."""
    end = left + size
    yield words(text, left + size / 2, middle - 8, "shape")
    yield f'<path d="M{left:g} {middle:g}H{end:g}m-6 -4l6 4l-6 4"/>'


def words(text: str, x: float, y: float, kind: str = "") -> str:
    """A text around x, above y."""
    class_attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{class_attribute}>{escape(text)}</text>'


if __name__ == "__main__":
    main()
