"""The HTML of a figure in a page, with the still picture of it for a page without scripts and for print."""

import base64
import hashlib
import json
import re
from typing import Any

from grader.catalog import paths
from grader.judge import figure
from grader.reports.templating import render

TEMPLATE = "integrations/figures/templates/figure.html"
# A paragraph, or a list or a quotation, in which no figure is placed.
BLOCK = re.compile(r"<(?P<around>ul|ol|blockquote|details|table)\b.*?</(?P=around)>|<p>.*?</p>", re.S)
HEAVY = 50_000  # letters from which on a text of a figure's data is worth a file of its own


def placed(page: str, folder: str, script: str = "", shared: str = "") -> str:
    """The page of a lesson with its figure after the first paragraph of the text.

    script: the address of its script; "" where the page holds it. shared: the address of the folder with the files of
    `heavy`, each of which a browser loads once for all pages; "" where the page holds what is in them.
    """
    data = figure.data(folder)
    files: dict[str, str] = {}
    if shared:
        data, files = _split(data)
    facts = {"title": figure.figure(folder).title, "still": still(folder), "data": data}
    html = render(TEMPLATE, **facts, script=script, shared=[f"{shared}/{name}" for name in files])
    title_ends = page.index("</h1>") + len("</h1>")
    paragraphs = (block for block in BLOCK.finditer(page, title_ends) if not block["around"])
    place = next((paragraph.end() for paragraph in paragraphs), title_ends)
    return f"{page[:place]}\n{html}{page[place:]}"


def heavy(folder: str) -> dict[str, str]:
    """What the data of a figure has of long texts, as scripts by their name, which is the same for the same text."""
    return _split(figure.data(folder))[1]


def _split(data: Any) -> tuple[Any, dict[str, str]]:
    """The data with a name in place of each long text, and the scripts that hold the texts."""
    files: dict[str, str] = {}

    def light(value: Any) -> Any:
        """A part of the data with its long texts replaced."""
        match value:
            case dict():
                return {name: light(item) for name, item in value.items()}
            case list():
                return [light(item) for item in value]
            case str() if len(value) >= HEAVY:
                name = hashlib.sha256(value.encode()).hexdigest()[:12]
                files[f"{name}.js"] = f"(window.kataShared ??= {{}})[{name!r}] = {json.dumps(value)};\n"
                return {"shared": name}
        return value

    return light(data), files


def still(folder: str) -> str:
    """The still picture as an address that holds it, for a page that loads nothing; "" before it was taken."""
    path = paths.still(folder)
    if not path.exists():
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
