"""The HTML of a figure in a page, with the still picture of it for a page without scripts and for print."""

import base64
import re

from grader.catalog import paths
from grader.judge import figure
from grader.reports.templating import render

TEMPLATE = "integrations/figures/templates/figure.html"
# A paragraph, or a list or a quotation, in which no figure is placed.
BLOCK = re.compile(r"<(?P<around>ul|ol|blockquote|details|table)\b.*?</(?P=around)>|<p>.*?</p>", re.S)


def placed(page: str, folder: str, script: str = "") -> str:
    """The page of a lesson with its figure after the first paragraph of the text.

    script: the address of its script; "" where the page holds it.
    """
    facts = {"title": figure.figure(folder).title, "still": still(folder), "data": figure.data(folder)}
    html = render(TEMPLATE, **facts, script=script)
    title_ends = page.index("</h1>") + len("</h1>")
    paragraphs = (block for block in BLOCK.finditer(page, title_ends) if not block["around"])
    place = next((paragraph.end() for paragraph in paragraphs), title_ends)
    return f"{page[:place]}\n{html}{page[place:]}"


def still(folder: str) -> str:
    """The still picture as an address that holds it, for a page that loads nothing; "" before it was taken."""
    path = paths.still(folder)
    if not path.exists():
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
