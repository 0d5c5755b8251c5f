"""The HTML of a figure in a page of the site, with a still picture of what it shows first."""

import re

import torch

from grader.integrations.figures import still_drawings
from grader.integrations.figures.still_shapes import Cell, Still, Text
from grader.judge import figure
from grader.reports.templating import render

TEMPLATE = "integrations/figures/templates/figure.html"
# A paragraph, or a list or a quotation, in which no figure is placed.
BLOCK = re.compile(r"<(?P<around>ul|ol|blockquote|details|table)\b.*?</(?P=around)>|<p>.*?</p>", re.S)
CELL, LINE, TOP = 58, 26, 24  # pixels: a cell's width and its height, the name's height
LETTER, NAME_LETTER = 7, 10  # pixels: the width of a letter, and of a bold one


def placed(page: str, folder: str, script: str) -> str:
    """The page of a lesson with its figure after the first paragraph of the text. script: the address of its script."""
    stills = [_still(matrix) for matrix in figure.start(folder)]
    stills += [still_drawings.drawn(drawing) for drawing in figure.drawings(folder)]
    facts = {"title": figure.figure(folder).title, "pictures": stills, "data": figure.data(folder)}
    html = render(TEMPLATE, **facts, script=script, cell_width=CELL, cell_height=LINE)
    title_ends = page.index("</h1>") + len("</h1>")
    paragraphs = (block for block in BLOCK.finditer(page, title_ends) if not block["around"])
    place = next((paragraph.end() for paragraph in paragraphs), title_ends)
    return f"{page[:place]}\n{html}{page[place:]}"


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
