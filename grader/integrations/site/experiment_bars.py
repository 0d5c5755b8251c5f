"""Bars beside the table of a lesson's experiment, drawn from the numbers that the lesson prints.

A test measures those numbers anew (tests/test_experiments.py), so the bars show what was measured.
"""

import ast
import html
import re
from collections.abc import Sequence

from grader.catalog import paths
from grader.desk import experiment

SECTION = re.compile(r'<h2 id="experiment".*?(?=<h2 |\Z)', re.S)
TABLE = re.compile(r"<table>.*?</table>", re.S)
ROW = re.compile(r"<tr>(.*?)</tr>", re.S)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.S)
TAG = re.compile(r"<[^>]+>")
BAR = (
    '<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
    '<rect{kind} width="{width:.1f}" height="10"></rect></svg></td>'
)


def with_bars(content: str, folder: str) -> str:
    """The HTML of a lesson, with a bar in each row of the table of its experiment. Without a script it stays as it is.

    Raises ValueError where the table lacks the column that the script names.
    """
    section = SECTION.search(content)
    table = TABLE.search(content, section.start(), section.end()) if section else None
    plot = column(folder)
    if table is None or not plot:
        return content
    head, *rows = [[_text(cell) for cell in CELL.findall(row)] for row in ROW.findall(table[0])]
    if plot not in head:
        raise ValueError(f"the table of the experiment of {folder} has no column {plot!r}: {head}")
    values = [_number(row[head.index(plot)]) for row in rows]
    hollow = " (hollow: below 0)" if any(_is_negative(value) for value in values) else ""
    ends = iter([f'<th class="bar">{html.escape(plot)}, drawn{hollow}</th>', *_bars(values)])
    drawn = table[0].replace("<table>", f'<table class="experiment" style="--columns: {len(head)}">')
    drawn = re.sub("</tr>", lambda end: next(ends) + end[0], drawn)
    return content[: table.start()] + f'<div class="experiment" tabindex="0">{drawn}</div>' + content[table.end() :]


def column(folder: str) -> str:
    """The column that the script of an exercise names as the one to draw; "" where there is no script."""
    script = paths.experiment(folder)
    if not script.exists():
        return ""
    for node in ast.parse(script.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["PLOT"]:
            return str(ast.literal_eval(node.value))
    return ""


def _bars(values: Sequence[experiment.Cell]) -> list[str]:
    """A cell for each value."""
    signs = [' class="negative"' if _is_negative(value) else "" for value in values]
    return [BAR.format(kind=sign, width=100 * share) for sign, share in zip(signs, experiment.shares(values))]


def _is_negative(value: experiment.Cell) -> bool:
    return not isinstance(value, str) and value < 0


def _number(text: str) -> experiment.Cell:
    try:
        return float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return text


def _text(cell: str) -> str:
    return html.unescape(TAG.sub("", cell)).strip()
